//! Calls of a sender: with audio beside the video, with a change of scheme, and over bad paths.

mod encoder;
mod recovery;
mod world;

use std::str::FromStr;

use thalweg_control::fixed;
use thalweg_sender::scheme::ControllerConfig;
use thalweg_sender::{Content, Event, Scheme, repair, scheme};
use thalweg_types::feedback::DecoderReport;
use thalweg_units::{Rate, Time};

use world::{Path, World, truth};

type Call = World<fn(Option<DecoderReport>, u64) -> Option<DecoderReport>>;

/// A call whose receiver reports arrivals and nothing else.
fn call(scheme: &Scheme) -> Call {
    World::new(scheme, None, Path::GOOD, 1, truth)
}

/// Values that `of` finds in the packets sent from this time on.
fn found<T>(call: &Call, from: Time, of: impl Fn(Time, &Content) -> Option<T>) -> Vec<T> {
    let sent = call.outcome.sent.iter().filter(|(at, _)| *at >= from);
    sent.filter_map(|(at, packet)| of(*at, &packet.content)).collect()
}

/// The frames sent from this time on, and whether each is a keyframe.
fn frames(call: &Call, from: Time) -> Vec<(u64, bool)> {
    found(call, from, |_, content| match content {
        Content::Media { fragment, .. } if fragment.index == 0 => Some((fragment.frame, fragment.keyframe)),
        _ => None,
    })
}

#[test]
fn audio_leaves_the_moment_it_is_made_under_every_scheme() {
    for known in scheme::known() {
        let mut call = call(&known.scheme());
        call.run(Time::from_millis(3000), true);
        let audio_packets = found(&call, Time::ZERO, |at, content| match content {
            Content::Audio { number, .. } => Some((at, *number)),
            _ => None,
        });
        assert_eq!(audio_packets.len(), 150, "{}", known.name);
        for (at, number) in audio_packets {
            assert_eq!(at.as_nanos(), number, "{}: audio waited", known.name);
        }
        // A video encoded beforehand at 700 kbps has to wait for a budget that begins at 120.
        let min = if known.name == "rebera:precoded" { 2 } else { 20 };
        assert!(frames(&call, Time::ZERO).len() > min, "{}: frames go beside it", known.name);
    }
}

#[test]
fn audio_is_taken_off_what_the_encoder_is_aimed_at() {
    let target = |audio| {
        let controller = ControllerConfig::Fixed(fixed::Config { rate: Rate::from_kbps(1000) });
        let mut call = call(&Scheme { controller, ..Scheme::from_str("gcc").unwrap() });
        call.run(Time::from_millis(20_000), audio);
        let targets = call.outcome.events.iter().rev().filter_map(|event| match event {
            Event::EncodeStarted { target, .. } => Some(target.as_bps_f64()),
            _ => None,
        });
        targets.take(30).sum::<f64>() / 30.0
    };
    // 150 bytes 50 times a second are 60 kbps of 1 Mbps.
    let (with, without) = (target(true), target(false));
    assert!((0.91..0.97).contains(&(with / without)), "{with} against {without}");
}

#[test]
fn a_scheme_with_a_parameter_out_of_range_is_refused_and_nothing_has_changed() {
    let (change, end) = (Time::from_millis(2000), Time::from_millis(4000));
    let play = |scheme: Option<&Scheme>| {
        let mut call = call(&"vidaptive".parse().unwrap());
        call.run(change, true);
        if let Some(scheme) = scheme {
            let problem = call.engine.change_scheme(change, scheme).unwrap_err().to_string();
            assert!(problem.contains("repair.packets is 0"), "{problem}");
        }
        call.run(end, true);
        (call.outcome.sent, call.outcome.events)
    };
    // The last part to be built: all parts before it were valid.
    let gcc: Scheme = "gcc".parse().unwrap();
    let repair = gcc.repair.map(|repair| repair::Config { packets: 0, ..repair });
    assert_eq!(play(Some(&Scheme { repair, ..gcc })), play(None));
}

#[test]
fn any_scheme_can_follow_any_other_and_numbers_go_on() {
    let (change, end) = (Time::from_millis(2000), Time::from_millis(5000));
    for before in ["gcc", "vidaptive", "camel", "salsify", "bbr"] {
        for after in scheme::known() {
            let mut call = call(&before.parse().unwrap());
            call.run(change, true);
            call.change(&after.scheme());
            let name = format!("{before} then {}", after.name);
            call.run(end, true);
            let ids: Vec<u64> = call.outcome.sent.iter().map(|(_, packet)| packet.sent.id.0).collect();
            assert!(ids.iter().enumerate().all(|(place, id)| place as u64 == *id), "{name}: packets' numbers go on");
            let media = found(&call, Time::ZERO, |_, content| match content {
                Content::Media { sequence, .. } => Some(*sequence),
                _ => None,
            });
            assert!(media.iter().enumerate().all(|(place, sequence)| place as u64 == *sequence), "{name}");
            let frames = frames(&call, change);
            // No receiver here reports times between arrivals, so Salsify allows only small frames, and one guess in a
            // hundred fits.
            let min = if after.name.contains("conventional") { 1 } else { 15 };
            assert!(frames.len() >= min, "{name}: {} frames in 3 s", frames.len());
            assert!(frames[0].1, "{name}: the first frame is a keyframe");
            assert!(call.outcome.events.contains(&Event::SchemeChanged));
        }
    }
}
