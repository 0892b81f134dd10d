//! Thalweg's own scheme (docs/thalweg.md).

use alloc::string::String;

use thalweg_control::{LossDetectionConfig, thalweg};
use thalweg_types::PacketSizes;
use thalweg_units::Span;

use super::{ControllerConfig, FeedbackStyle, FramesConfig, ReceiverKind, Scheme, StatefulReceiver, salsify};
use crate::frames::rate_targeted::{self, Reserve, TargetBase};
use crate::frames::recovery::{self, long_term};
use crate::frames::{Share, budgeted, resolution, safeguards};
use crate::pacing;
use crate::padding::redundant;
use crate::repair::{self, fec};

fn controller(packets: &PacketSizes) -> ControllerConfig {
    let (packet, wire) = (packets.max_payload, packets.max_payload + packets.overhead);
    ControllerConfig::Thalweg(thalweg::Config { packet, wire, ..thalweg::Config::default() })
}

/// As much FEC with each frame as leaves this share of them incomplete at the measured loss: it arrives before the next frame,
/// a retransmission does not. A receiver that requests retransmissions gets them. A packet that overtook others makes no
/// loss of them.
fn repair(residual: f64, max_per_packet: f64) -> repair::Config {
    let amount = fec::Amount::Residual(residual);
    let fec = fec::Config { amount, reach: Span::ZERO, max_per_packet, takes_back: true, ..fec::Config::default() };
    repair::Config { fec: Some(fec), ..repair::Config::default() }
}

/// Packets that no report covered are not lost.
fn loss_detection() -> LossDetectionConfig {
    LossDetectionConfig { unreported_are_lost: false, ..LossDetectionConfig::default() }
}

/// Frames of shares for thirty pictures a second.
fn frames(recovery: recovery::Config) -> FramesConfig {
    let (shares_for, before_next) = (Some(Span::of_frame(30.0)), Some(0.55));
    FramesConfig::Budgeted(budgeted::Config { shares_for, before_next, recovery, ..budgeted::Config::default() })
}

/// Frames chosen late from shares of the budget, for our receiver.
pub(super) fn thalweg() -> Scheme {
    let packets = salsify::packets();
    Scheme {
        name: String::new(),
        controller: controller(&packets),
        pacing: pacing::Config::default(),
        padding: None,
        // What trains carry can stand for a lost packet.
        padding_content: Some(redundant::Config::of(redundant::Kind::Fec)),
        frames: frames(budgeted::Config::default().recovery),
        repair: Some(repair(0.04, fec::Config::default().max_per_packet)),
        feedback: FeedbackStyle::PerPacket,
        receiver: ReceiverKind::Stateful(StatefulReceiver::for_calls()),
        packets,
        // A forced frame is the probe.
        loss_detection: LossDetectionConfig { probe_packets: 0, ..loss_detection() },
        ecn: None,
    }
}

/// For a standard decoder: acknowledged frames are kept in its golden and altref buffers. It only reports arrivals.
pub(super) fn standard_decoder() -> Scheme {
    let packets = PacketSizes::default();
    let recovery = recovery::Config::LongTerm(long_term::Config::default());
    Scheme {
        controller: controller(&packets),
        frames: frames(recovery),
        receiver: ReceiverKind::Standard,
        packets,
        ..thalweg()
    }
}

/// For encoders that are aimed at a rate and make one frame of a picture: what the budget does not admit waits in the
/// sender, and the encoder pauses meanwhile.
pub(super) fn conventional() -> Scheme {
    let packets = PacketSizes::default();
    let ControllerConfig::Thalweg(config) = controller(&packets) else { return thalweg() };
    Scheme {
        controller: ControllerConfig::Thalweg(thalweg::Config { holds_packets: true, ..config }),
        frames: FramesConfig::RateTargeted(rate_targeted::Config {
            base: TargetBase::CapacityLessOverhead,
            reserve: Some(Reserve::Drain(Share { headroom: 0.8, drain_within: Some(Span::from_millis(100)) })),
            safeguards: safeguards::Config { reset: Some(Span::from_millis(500)), ..safeguards::Config::default() },
            resolution: resolution::Config::QualityScaler(resolution::QualityScalerConfig::default()),
            ..rate_targeted::Config::default()
        }),
        // The encoder's max rate is of media alone. Half as much FEC is what a tenth lost asks for; a peer that reports
        // more gets no more.
        repair: Some(repair(0.02, 0.5)),
        receiver: ReceiverKind::Standard,
        packets,
        loss_detection: loss_detection(),
        ..thalweg()
    }
}
