//! Frames that recover from long-term buffers: the receiver is told what they refer to, or needs every one, in order.

use super::*;
use thalweg_wire::rtp::dependency::{DependencyDescriptor, Structure};

const SCHEMES: [&str; 2] = ["salsify:standard-decoder", "thalweg:standard-decoder"];

/// A world after twelve seconds, and the longest time for which no frame came, to 20 ms, after the first two.
fn longest_wait(scheme: &str, loss: f64, dependencies: bool) -> (World, Span) {
    let receiver = Capabilities { dependencies, functional: false, ..Capabilities::all(Direction::ReceiveOnly) };
    let mut world = World::new(known(scheme), &path(loss), &receiver);
    world.run(Span::from_secs(2));
    let (mut shown, mut last, mut longest) = (world.shown.len(), world.now(), Span::ZERO);
    while world.now() < Time::from_millis(12_000) {
        world.run(Span::from_millis(20));
        longest = longest.max(world.now() - last);
        if world.shown.len() > shown {
            (shown, last) = (world.shown.len(), world.now());
        }
    }
    (world, longest)
}

#[test]
fn a_loss_stops_the_picture_for_less_than_half_a_second_where_frames_say_what_they_refer_to_and_where_they_cannot() {
    for scheme in SCHEMES {
        for (loss, dependencies) in
            [(0.01, true), (0.05, true), (0.1, true), (0.01, false), (0.05, false), (0.1, false)]
        {
            let (world, longest) = longest_wait(scheme, loss, dependencies);
            let statistics = world.incoming.statistics().video;
            assert!(
                longest < Span::from_millis(500) && longest > Span::from_millis(20),
                "{scheme} at {loss}, {dependencies}: {longest}, {statistics:?}"
            );
            assert!(world.shown.len() > 150, "{scheme} at {loss}, {dependencies}: {} shown", world.shown.len());
            let repeats = scheme.starts_with("thalweg") || !dependencies;
            assert!(repeats || statistics.retransmitted == 0, "{scheme}: {statistics:?}");
            assert!(dependencies || statistics.retransmitted > 0, "{scheme}: {statistics:?}");
        }
    }
}

#[test]
fn each_packet_says_frames_that_were_sent_before_and_after_a_loss_one_that_came() {
    for scheme in SCHEMES {
        let mut world = play(scheme, 0.03, |receiver| receiver.functional = false);
        let video = world.outgoing.video();
        let (id, kind) = (video.extensions.dependencies.expect("agreed on"), video.payload_type);
        let (mut structure, mut sent, mut far) = (None::<Structure>, BTreeSet::new(), 0);
        for plain in world.outgoing.take_plain().into_iter().filter(|plain| plain.leaves) {
            let Ok(packet) = Packet::parse(&plain.bytes) else { continue };
            if packet.header.payload_type != kind {
                continue;
            }
            let element =
                packet.extensions.and_then(|extensions| extensions.get(id)).expect("in every packet of media");
            assert!(element.len() <= 16, "{} bytes do not fit a one-byte header", element.len());
            let read = DependencyDescriptor::parse(element, structure.as_ref()).expect("a good descriptor");
            let references = read.references(structure.as_ref()).expect("of a known template");
            // A keyframe's first packet has the structure, and its later ones only the template without references.
            assert_eq!(read.structure.is_some(), read.starts && references.is_empty());
            assert!(references.iter().all(|back| sent.contains(&read.frame.wrapping_sub(*back))), "{references:?}");
            far += usize::from(read.starts && !references.is_empty() && !references.contains(&1));
            structure = read.structure.or(structure);
            sent.insert(read.frame);
        }
        assert!(far > 5, "{scheme}: {far} frames do not refer to the one before");
    }
}
