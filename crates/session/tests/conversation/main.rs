//! Both sides of a conversation over a path, in virtual time.

mod ceiling;
mod ecn;
mod extended;
mod hostile;
mod layers;
mod measured;
mod memory;
mod redundancy;
mod references;
mod reports;
mod world;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use thalweg_control::fixed;
use thalweg_netsim::{HopConfig, LossModel, PathConfig};
use thalweg_receiver::rtp::Statistics;
use thalweg_sender::frames::StateHash;
use thalweg_sender::{Event, Scheme, SenderFactory};
use thalweg_session::outgoing::Preferences;
use thalweg_transport::Config;
use thalweg_transport::sdp::{Capabilities, CongestionFeedback, Direction, VideoCodec};
use thalweg_units::{Rate, Span, Time};
use thalweg_wire::rtcp::{self, Bye, Nack};
use thalweg_wire::rtp::Packet;
use world::{INITIAL, World};

fn path(loss: f64) -> PathConfig {
    let hops = vec![
        HopConfig::Loss(LossModel::Random { probability: loss }),
        HopConfig::Rate { rate: "3Mbps".parse().expect("a rate"), queue: Default::default() },
        HopConfig::delay(Span::from_millis(25)),
    ];
    PathConfig { hops }
}

fn known(name: &str) -> Scheme {
    name.parse().expect("a scheme")
}

/// A world in which `scheme` has run for so many seconds, with a capture of the unprotected packets it sent.
fn played(
    scheme: impl SenderFactory + 'static,
    path: &PathConfig,
    seconds: i64,
    change: impl Fn(&mut Capabilities),
) -> World {
    let mut receiver = Capabilities::all(Direction::ReceiveOnly);
    change(&mut receiver);
    let mut world = World::new(scheme, path, &receiver);
    world.outgoing.capture();
    world.run(Span::from_secs(seconds));
    world
}

fn play(scheme: &str, loss: f64, change: impl Fn(&mut Capabilities)) -> World {
    played(known(scheme), &path(loss), 6, change)
}

/// The engine's counts since the last call: packets taken for lost, packets sent, and the bytes charged for each.
fn counted(world: &mut World) -> (u32, Vec<u64>) {
    let (mut lost, mut charged) = (0, Vec::new());
    for timed in world.outgoing.drain_events() {
        match timed.event {
            Event::Feedback { lost: more, .. } => lost += more,
            Event::PacketSent { size, .. } => charged.push(size.get()),
            _ => {}
        }
    }
    (lost, charged)
}

/// Asserts that frames come out as they were encoded, in the order of the pictures.
fn assert_exact(world: &World) {
    let mut last = None;
    for frame in &world.shown {
        let tag = world.encoded.iter().position(|encoded| **encoded == frame.data[..]);
        assert!(tag.is_some() && tag > last, "frame {} is none that was encoded after the last", frame.number);
        last = tag;
    }
    assert_eq!(world.errors, [[""; 0]; 2]);
}

#[test]
fn av1_is_put_together_as_it_was_encoded_where_packets_are_lost_too() {
    for loss in [0.0, 0.02] {
        let world = play("gcc", loss, |receiver| receiver.video = vec![VideoCodec::Av1]);
        assert_eq!(world.outgoing.video().codec, VideoCodec::Av1);
        assert_exact(&world);
        let statistics = world.incoming.statistics();
        assert!(world.shown.len() + 20 > world.encoded.len() && world.shown.len() > 100, "{loss}: {statistics:?}");
        assert_eq!((statistics.malformed, statistics.unknown), (0, 0), "{loss}");
        assert!(loss > 0.0 || statistics.video.keyframes == 1, "{statistics:?}");
    }
}

#[test]
fn every_frame_of_a_call_over_a_clean_path_is_shown_whatever_kind_of_feedback_was_agreed_on() {
    for kind in [
        CongestionFeedback::TransportOnRequest,
        CongestionFeedback::PerStream,
        CongestionFeedback::Transport,
        CongestionFeedback::Extended,
    ] {
        let world = play("gcc", 0.0, |receiver| receiver.congestion = vec![kind]);
        assert_exact(&world);
        let statistics = world.incoming.statistics();
        // The frames encoded last may still be in flight.
        assert!(world.shown.len() + 5 > world.encoded.len() && world.shown.len() > 120, "{kind:?}: {statistics:?}");
        assert_eq!((statistics.video.keyframes, statistics.malformed, statistics.unknown), (1, 0, 0), "{kind:?}");
        // Extended reports come every 200 ms.
        let min = if kind == CongestionFeedback::Extended { 25 } else { 50 };
        assert!(world.outgoing.figures().reports > min, "{kind:?}: {}", world.outgoing.figures().reports);
    }
}

#[test]
fn what_is_lost_is_retransmitted_and_audio_comes_along_within_a_frame_of_the_picture() {
    let world = play("gcc", 0.02, |_| {});
    assert_exact(&world);
    let statistics = world.incoming.statistics();
    assert!(statistics.video.retransmitted > 5 && world.shown.len() > 110, "{statistics:?}");
    assert!(world.outgoing.figures().nacks > 5);
    assert!(world.audio_received.len() > 250 && statistics.audio.lost > 0, "{}", world.audio_received.len());
    let captured = world.shown.iter().filter(|frame| frame.captured.is_some()).count();
    assert!(captured > 100);
    let skew = world.incoming.skew().expect("both came");
    assert!(skew.abs() < Span::from_millis(60), "{skew}");
}

#[test]
fn only_media_can_be_asked_for_again_and_numbers_of_retransmissions_and_fec_are_none_of_its() {
    let mut world = play("gcc", 0.0, |_| {});
    let before = (world.outgoing.figures().nacks, world.incoming.statistics().retransmission_stream.received);
    // All sequence numbers, and so all packets sent, of media (100), retransmissions, FEC and audio.
    let mut asked = |ssrc| {
        for first in (0..u16::MAX).step_by(2_000) {
            let nack = rtcp::Packet::Nack(Nack::of(200, ssrc, first..first.saturating_add(2_000)));
            let mut compound = Vec::new();
            rtcp::write(&[nack], &mut compound).expect("room");
            world.say(|connection| connection.send_rtcp(&compound).expect("there are keys"));
        }
        world.run(Span::from_millis(200));
        (world.outgoing.figures().nacks, world.incoming.statistics().retransmission_stream.received)
    };
    for ssrc in [101, 102, 103] {
        assert_eq!(asked(ssrc), before, "{ssrc}");
    }
    let (nacks, retransmissions) = asked(100);
    assert!(nacks > before.0 && retransmissions > before.1, "{nacks}, {retransmissions}");
}

#[test]
fn dummies_are_reported_and_show_nothing() {
    let world = play("vidaptive", 0.0, |_| {});
    assert_exact(&world);
    let statistics = world.incoming.statistics();
    assert!(statistics.padding > 50 && world.shown.len() > 100, "{statistics:?}");
}

#[test]
fn padding_on_the_retransmission_stream_is_marked_every_5_ms_where_feedback_cannot_be_requested_and_never_elsewhere() {
    for (feedback, marks) in [(CongestionFeedback::Transport, true), (CongestionFeedback::TransportOnRequest, false)] {
        let mut world = play("vidaptive", 0.0, |receiver| receiver.congestion = vec![feedback]);
        let kind = world.outgoing.video().retransmission.expect("it was agreed on");
        let sent = world.outgoing.take_plain().into_iter().filter(|plain| plain.leaves);
        let padding = sent.filter_map(|plain| {
            let packet = Packet::parse(&plain.bytes).ok()?;
            let is_padding = packet.header.payload_type == kind && packet.payload.is_empty();
            is_padding.then_some((plain.at, packet.header.marker))
        });
        let padding: Vec<(Time, bool)> = padding.collect();
        let marked: Vec<Time> = padding.iter().filter(|(_, marker)| *marker).map(|(at, _)| *at).collect();
        assert!(padding.len() > 50, "{} packets of padding", padding.len());
        assert_eq!(marked.is_empty(), !marks, "{feedback:?}");
        assert!(marked.windows(2).all(|pair| pair[1] - pair[0] >= Span::from_millis(5)), "{marked:?}");
        // What is not marked follows a mark closely.
        let follows = |at: &Time| marked.iter().any(|mark| *mark <= *at && *at - *mark < Span::from_millis(5));
        assert!(!marks || padding.iter().all(|(at, _)| follows(at)));
    }
}

#[test]
fn padding_that_is_fec_recovers_what_is_lost() {
    let world = play("vidaptive+fec", 0.03, |_| {});
    assert_exact(&world);
    let statistics = world.incoming.statistics();
    assert_eq!((statistics.malformed, statistics.unknown), (0, 0));
    assert!(statistics.fec_stream.received > 15 && world.shown.len() > 100, "{statistics:?}");
    // About eight of some three hundred; identities are random each time, and so are the losses.
    assert!(statistics.video.recovered > 0, "{statistics:?}");
    let retransmissions = play("vidaptive+rtx", 0.03, |_| {});
    assert_exact(&retransmissions);
    assert!(
        retransmissions.incoming.statistics().video.retransmitted > 10,
        "{:?}",
        retransmissions.incoming.statistics()
    );
}

#[test]
fn salsifys_receiver_goes_back_to_states_it_has_and_needs_no_retransmissions() {
    let world = play("salsify", 0.02, |_| {});
    let (mut current, mut kept, mut exact, mut back) = (INITIAL, BTreeSet::new(), 0, 0);
    for frame in &world.shown {
        let moves = frame.moves.as_ref().expect("functional video");
        for gone in &moves.forget {
            assert!(kept.remove(gone));
        }
        if let Some(load) = moves.load {
            assert!(load == INITIAL || kept.contains(&load), "{load} is not here");
            current = load;
            back += 1;
        }
        let number = world.encoded.iter().position(|encoded| encoded.starts_with(&frame.data)).expect("was encoded");
        match moves.target.filter(|_| moves.length.is_none()) {
            Some(target) => {
                assert_eq!(world.encoded[number].len(), frame.data.len());
                assert_eq!((world.transitions[number].source, world.transitions[number].target), (current, target));
                kept.insert(target);
                current = target;
                exact += 1;
            }
            None => current = StateHash::UNKNOWN,
        }
    }
    assert!(exact > 100 && back > 0, "{exact} exact, {back} times back");
    let video = world.incoming.statistics().video;
    assert_eq!((video.retransmitted, video.asked_for, video.keyframes_requested), (0, 0, 0));
}

#[test]
fn what_the_decoder_refuses_is_told_and_pictures_go_on_with_a_keyframe() {
    let mut world = play("gcc", 0.0, |_| {});
    let (refused, before) = (world.shown.last().expect("pictures").number, world.shown.len());
    world.incoming.on_undecodable(world.now(), refused);
    world.run(Span::from_secs(2));
    assert!(world.shown.len() > before + 50 && world.shown[before].keyframe, "{}", world.shown.len() - before);
    assert_exact(&world);
    // By then a keyframe has arrived, so no repair is needed.
    world.incoming.on_undecodable(world.now(), refused);
    world.run(Span::from_secs(1));
    assert_eq!((world.outgoing.figures().keyframe_requests, world.incoming.statistics().video.keyframes), (1, 2));
}

#[test]
fn who_only_receives_learns_the_round_trip_where_that_was_agreed_on() {
    let world = play("gcc", 0.0, |_| {});
    let round_trip = world.incoming.statistics().round_trip.expect("the sender tells");
    assert!((Span::from_millis(50)..Span::from_millis(150)).contains(&round_trip), "{round_trip}");
    let world = play("gcc", 0.0, |receiver| receiver.feedback.round_trip = false);
    assert_eq!(world.incoming.statistics().round_trip, None);
}

/// The offer without congestion feedback for audio.
fn without_feedback_of_audio(offer: &str) -> String {
    let (video, audio) = offer.split_once("m=audio").expect("audio is offered");
    let is_feedback =
        |line: &str| line.contains("transport-cc") || line.contains("transport-wide-cc") || line.contains("ack ccfb");
    let kept: String = audio.split_inclusive("\r\n").filter(|line| !is_feedback(line)).collect();
    format!("{video}m=audio{kept}")
}

#[test]
fn audio_that_nobody_reports_is_heard_and_not_taken_for_lost() {
    for kind in [CongestionFeedback::TransportOnRequest, CongestionFeedback::PerStream, CongestionFeedback::Transport] {
        let receiver = Capabilities { congestion: vec![kind], ..Capabilities::all(Direction::ReceiveOnly) };
        let config = Config::default();
        let mut world = World::with(known("gcc"), &path(0.0), &receiver, without_feedback_of_audio, config);
        world.run(Span::from_secs(4));
        assert_eq!(counted(&mut world).0, 0, "{kind:?}");
        assert!(
            world.audio_received.len() > 170 && world.shown.len() > 100,
            "{kind:?}: {}",
            world.audio_received.len()
        );
        assert!(world.outgoing.figures().reports > 50, "{kind:?}");
        let skew = world.incoming.skew().expect("both came");
        assert!(skew.abs() < Span::from_millis(60), "{kind:?}: {skew}");
    }
}

#[test]
fn packets_that_cannot_be_protected_are_counted_and_the_first_is_reported() {
    let receiver = Capabilities::all(Direction::ReceiveOnly);
    // Keys for one stream: the video's. What belongs to another is refused, and the video goes on.
    let config = Config { max_streams: 1, ..Config::default() };
    let mut world = World::with(known("gcc"), &path(0.0), &receiver, str::to_owned, config.clone());
    world.run(Span::from_secs(1));
    let (unsent, shown) = (world.outgoing.figures().unsent, world.shown.len());
    assert!(
        matches!(&world.errors, [first, none] if first.len() == 1 && first[0].contains("max_streams") && none.is_empty())
    );
    assert!((10..=100).contains(&unsent) && shown > 20, "{unsent} packets unsent, {shown} frames shown");
    // The receiver's one stream of RTCP is another's: none of its reports leaves.
    let mut world = World::with(known("gcc"), &path(0.0), &receiver, str::to_owned, config);
    rtcp::write(&[rtcp::Packet::Bye(Bye { sources: vec![9], reason: None })], &mut world.greeting).expect("room");
    world.run(Span::from_secs(1));
    let Statistics { rtcp_sent, rtcp_unsent, .. } = world.incoming.statistics();
    assert!(matches!(&world.errors[1][..], [why] if why.contains("max_streams")), "{:?}", world.errors);
    assert!(rtcp_unsent > 5 && rtcp_sent == rtcp_unsent, "{rtcp_unsent} of {rtcp_sent} unsent");
    assert_eq!(world.outgoing.figures().reports, 0);
}

#[test]
fn a_sender_that_cannot_be_built_once_the_connection_stands_says_so_and_sends_nothing() {
    // `Outgoing::new` and the world each try it before there is a connection.
    let made = AtomicU32::new(0);
    let scheme = known("gcc").with_controller("late", move || {
        let rate = if made.fetch_add(1, Relaxed) < 2 { Rate::from_kbps(500) } else { Rate::ZERO };
        fixed::Fixed::new(fixed::Config { rate })
    });
    let mut world = World::new(scheme, &path(0.0), &Capabilities::all(Direction::ReceiveOnly));
    world.run(Span::from_secs(1));
    assert!(
        matches!(&world.errors, [first, none] if first.len() == 1 && first[0].contains("rate") && none.is_empty()),
        "{:?}",
        world.errors
    );
    assert!(world.outgoing.engine().is_none() && world.encoded.is_empty() && world.shown.is_empty());
}

/// AMuSys's codec interface (MMSys 2014, section 6.1).
#[test]
fn an_application_bounds_rate_and_frames_of_its_encoder_and_sees_what_it_makes() {
    let mut world = play("gcc", 0.0, |_| {});
    let outgoing = &mut world.outgoing;
    let free = outgoing.bitrate();
    assert!(free.made > Rate::from_kbps(600), "{free:?}");
    outgoing.set_param("max-bitrate", "300kbps").expect("a rate");
    outgoing.set_preferences(&Preferences { frame_rate: Some(10.0), ..Preferences::default() }).expect("in range");
    assert!(outgoing.set_param("gop", "14").is_err());
    assert_eq!(outgoing.param("max-frame-rate"), Ok(Some("10".into())));
    let shown = world.shown.len();
    world.run(Span::from_secs(5));
    let bound = world.outgoing.bitrate();
    assert_eq!(bound.requested, Some(Rate::from_kbps(300)));
    assert!((48..=53).contains(&(world.shown.len() - shown)), "{}", world.shown.len() - shown);
    assert!(bound.made < Rate::from_kbps(360) && bound.made > Rate::from_kbps(240), "{bound:?}");
    assert_exact(&world);
}
