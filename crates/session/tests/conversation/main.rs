//! Both ends of a conversation over a path, in virtual time.

mod world;

use thalweg_link::{HopConfig, Jitter, LossModel, PathConfig};
use thalweg_sender::scheme;
use thalweg_transport::sdp::{Capabilities, CongestionFeedback, Direction};
use thalweg_units::Span;
use world::World;

fn path(loss: f64) -> PathConfig {
    let hops = vec![
        HopConfig::Loss(LossModel::Random { probability: loss }),
        HopConfig::Rate { rate: "3Mbps".parse().expect("a rate"), queue: Default::default() },
        HopConfig::Delay { delay: Span::from_millis(25), jitter: Jitter::None, reorders: false },
    ];
    PathConfig { hops }
}

fn play(scheme: &str, loss: f64, change: impl Fn(&mut Capabilities)) -> World {
    let mut receiver = Capabilities::all(Direction::ReceiveOnly);
    change(&mut receiver);
    let known = scheme::known().iter().find(|known| known.name == scheme).expect("a scheme");
    let mut world = World::new(known.scheme(), &path(loss), &receiver);
    world.run(Span::from_secs(6));
    world
}

/// Frames come out as they were encoded, in the order of the pictures.
fn assert_exact(world: &World) {
    let mut last = None;
    for frame in &world.shown {
        let tag = world.encoded.iter().position(|encoded| **encoded == frame.data[..]);
        assert!(tag.is_some() && tag > last, "frame {} is none that was encoded after the last", frame.number);
        last = tag;
    }
}

#[test]
fn every_frame_of_a_call_over_a_clean_path_is_shown_whatever_kind_of_feedback_was_agreed_on() {
    for kind in [CongestionFeedback::TransportOnRequest, CongestionFeedback::PerStream, CongestionFeedback::Transport] {
        let world = play("gcc", 0.0, |receiver| receiver.congestion = vec![kind]);
        assert_exact(&world);
        let statistics = world.incoming.statistics();
        // What was encoded last may be on its way.
        assert!(world.shown.len() + 5 > world.encoded.len() && world.shown.len() > 120, "{kind:?}: {statistics:?}");
        assert_eq!((statistics.video.keyframes, statistics.malformed, statistics.unknown), (1, 0, 0), "{kind:?}");
        assert!(world.outgoing.figures().reports > 50, "{kind:?}");
    }
}

#[test]
fn what_is_lost_is_repeated_and_sound_comes_along_within_a_frame_of_the_picture() {
    let world = play("gcc", 0.02, |_| {});
    assert_exact(&world);
    let statistics = world.incoming.statistics();
    assert!(statistics.video.repeated > 5 && world.shown.len() > 110, "{statistics:?}");
    assert!(world.outgoing.figures().nacks > 5);
    assert!(world.heard.len() > 250 && statistics.audio.lost > 0, "{}", world.heard.len());
    let captured = world.shown.iter().filter(|frame| frame.captured.is_some()).count();
    assert!(captured > 100);
    let skew = world.incoming.skew().expect("both came");
    assert!(skew.abs() < Span::from_millis(60), "{skew}");
}

#[test]
fn dummies_are_reported_and_show_nothing() {
    let world = play("vidaptive", 0.0, |_| {});
    assert_exact(&world);
    let statistics = world.incoming.statistics();
    assert!(statistics.padding > 50 && world.shown.len() > 100, "{statistics:?}");
}
