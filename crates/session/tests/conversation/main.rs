//! Both ends of a conversation over a path, in virtual time.

mod hostile;
mod memory;
mod world;

use std::collections::BTreeSet;

use thalweg_link::{HopConfig, Jitter, LossModel, PathConfig};
use thalweg_sender::frames::StateHash;
use thalweg_sender::scheme;
use thalweg_transport::sdp::{Capabilities, CongestionFeedback, Direction};
use thalweg_units::Span;
use world::{INITIAL, World};

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

#[test]
fn salsifys_receiver_goes_back_to_states_it_has_and_needs_no_repeats() {
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
    assert_eq!((video.repeated, video.asked_for, video.keyframes_asked_for), (0, 0, 0));
}
