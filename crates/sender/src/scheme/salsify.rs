//! Salsify (Fouladi et al., NSDI 2018; specs/salsify.md), its ablations, and its frames under Vidaptive.

use alloc::string::String;

use thalweg_control::LossDetectionConfig;
use thalweg_control::salsify::{self, Grace, Smoothing, Unit};
use thalweg_types::PacketSizes;
use thalweg_units::{Bytes, Span};

use super::{ControllerConfig, FeedbackStyle, FramesConfig, ReceiverKind, Scheme, StatefulReceiver, vidaptive};
use crate::frames::late_choice::{self, Candidates, Choice, EachSecond, Fitting, Room};
use crate::frames::recovery::{self, long_term, stateful};
use crate::frames::safeguards;
use crate::pacing;

/// Packet sizes with the header extension in every packet (fragment and grace period, 12 bytes) and to a frame's first
/// packet (two hashes, 16).
pub(super) fn packets() -> PacketSizes {
    let usual = PacketSizes::default();
    PacketSizes { overhead: usual.overhead + Bytes::new(12), states: Bytes::new(16), ..usual }
}

/// Smoothing in units of full-size packets.
fn smoothing() -> Smoothing {
    let packets = packets();
    Smoothing { unit: Unit::Bytes(packets.max_payload + packets.overhead), ..Smoothing::default() }
}

fn stateful_receiver() -> ReceiverKind {
    ReceiverKind::Stateful(StatefulReceiver { smoothing: smoothing(), ..StatefulReceiver::default() })
}

/// Two candidates in parallel, with a stateful receiver.
pub(super) fn two_cores() -> Scheme {
    let packets = packets();
    Scheme {
        name: String::new(),
        controller: ControllerConfig::Salsify(salsify::Config {
            packet: packets.max_payload,
            smoothing: smoothing(),
            ..salsify::Config::default()
        }),
        pacing: pacing::Config::default(),
        padding: None,
        padding_content: None,
        frames: FramesConfig::LateChoice(late_choice::Config::default()),
        repair: None,
        feedback: FeedbackStyle::PerPacket,
        receiver: stateful_receiver(),
        packets,
        // A forced frame is the probe of this paper (section 3.1).
        loss_detection: LossDetectionConfig { probe_packets: 0, ..LossDetectionConfig::default() },
        ecn: None,
    }
}

/// To the letter: the receiver measures packet by packet, starting from nothing, and subtracts every pause of the
/// sender. Nothing limits what is sent before the first acknowledgement, frames are forced into a dead link, and the
/// encoder has no max rate.
pub(super) fn of_the_paper() -> Scheme {
    let scheme = with_frames(|frames| {
        frames.choice = Choice::First;
        frames.unheard = None;
        frames.max_rate = None;
    });
    let grace = Grace::EveryPacket;
    Scheme {
        controller: ControllerConfig::Salsify(salsify::Config {
            packet: scheme.packets.max_payload,
            smoothing: Smoothing::PAPER,
            grace,
            measured_by: thalweg_control::End::Receiver,
            first_packets: None,
            ..salsify::Config::default()
        }),
        receiver: ReceiverKind::Stateful(StatefulReceiver {
            smoothing: Smoothing::PAPER,
            grace,
            ..StatefulReceiver::default()
        }),
        ..scheme
    }
}

/// The same on one core (Salsify-1c).
pub(super) fn of_the_paper_on_one_core() -> Scheme {
    changed(of_the_paper(), |frames| frames.cores = 1)
}

/// The two-core scheme with a changed frame policy.
fn with_frames(change: impl Fn(&mut late_choice::Config)) -> Scheme {
    changed(two_cores(), change)
}

fn changed(mut scheme: Scheme, change: impl Fn(&mut late_choice::Config)) -> Scheme {
    if let FramesConfig::LateChoice(frames) = &mut scheme.frames {
        change(frames);
    }
    scheme
}

/// One candidate after the other, on one core.
pub(super) fn one_core() -> Scheme {
    with_frames(|frames| frames.cores = 1)
}

/// The sender's pauses count as delay of the path.
pub(super) fn no_grace() -> Scheme {
    let scheme = two_cores();
    let ControllerConfig::Salsify(config) = scheme.controller else { return scheme };
    Scheme {
        controller: ControllerConfig::Salsify(salsify::Config { grace: Grace::None, ..config }),
        receiver: ReceiverKind::Stateful(StatefulReceiver {
            smoothing: smoothing(),
            grace: Grace::None,
            ..StatefulReceiver::default()
        }),
        ..scheme
    }
}

/// With a changed frame policy, for a receiver that keeps no states and gets no hashes.
fn for_standard_receivers(change: impl Fn(&mut late_choice::Config)) -> Scheme {
    Scheme { receiver: ReceiverKind::Standard, packets: PacketSizes::default(), ..with_frames(change) }
}

/// For a standard decoder: acknowledged frames are kept in its golden and altref buffers. It only reports arrivals.
pub(super) fn standard_decoder() -> Scheme {
    for_standard_receivers(|frames| frames.recovery = recovery::Config::LongTerm(long_term::Config::default()))
}

/// A codec that encodes a picture once and cannot go back to an earlier state.
fn conventional(candidates: Candidates) -> Scheme {
    for_standard_receivers(|frames| {
        frames.candidates = candidates.clone();
        frames.choice = Choice::WhateverWasMade;
        frames.recovery = recovery::Config::Keyframe;
        frames.cores = 1;
    })
}

/// Without knowing a frame's size beforehand.
pub(super) fn conventional_codec() -> Scheme {
    conventional(Candidates::Guess)
}

/// And with one quantiser per second.
pub(super) fn conventional_transport_and_codec() -> Scheme {
    conventional(Candidates::EachSecond(EachSecond::default()))
}

/// Vidaptive's window, pacing and dummies. A frame may be as large as what the pacer sends within Vidaptive's pause
/// threshold (33 ms), less the queue. A hopeless queue is thrown away as in Vidaptive but sooner (after 500 ms instead
/// of 1 s), because that costs no keyframe.
pub(super) fn under_vidaptive() -> Scheme {
    Scheme {
        frames: FramesConfig::LateChoice(late_choice::Config {
            room: Room::Within(Span::from_millis(33)),
            candidates: Candidates::Fitting(Fitting::default()),
            recovery: recovery::Config::Stateful(stateful::Config::default()),
            safeguards: safeguards::Config { reset: Some(Span::from_millis(500)), ..safeguards::Config::NONE },
            ..late_choice::Config::default()
        }),
        repair: None,
        receiver: stateful_receiver(),
        packets: packets(),
        ..vidaptive::over_copa()
    }
}
