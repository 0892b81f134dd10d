//! Controllers that the papers are measured against, each under WebRTC's frames: paced at its own rate, the encoder aimed at its capacity.

use thalweg_control::{bbr as bbr_control, nada as nada_control, pudica as pudica_control};
use thalweg_control::{scream as scream_control, sqp as sqp_control};
use thalweg_media::PacketSizes;
use thalweg_units::Span;

use super::{ControllerConfig, FeedbackStyle, Scheme, gcc};
use crate::frames::rate_targeted::Reserve;
use crate::pacing;

/// A controller in GCC's place.
pub(super) fn under_webrtc(controller: ControllerConfig, feedback: FeedbackStyle) -> Scheme {
    Scheme { controller, pacing: pacing::Config::default(), feedback, ..gcc::webrtc() }
}

/// SCReAM v2 (specs/scream.md): its draft wants reports far more often than Chromium sends them.
pub(super) fn scream() -> Scheme {
    under_webrtc(ControllerConfig::Scream(scream_control::Config::default()), FeedbackStyle::PerPacket)
}

/// NADA (specs/nada.md).
pub(super) fn nada() -> Scheme {
    under_webrtc(ControllerConfig::Nada(nada_control::Config::default()), FeedbackStyle::Twcc)
}

/// SQP (specs/sqp.md): each frame leaves at twice its rate, nothing waits for a window.
pub(super) fn sqp() -> Scheme {
    under_webrtc(ControllerConfig::Sqp(sqp_control::Config::default()), FeedbackStyle::PerPacket)
}

/// Pudica (specs/pudica.md): each frame leaves at rho times its rate, tiny probes follow it.
pub(super) fn pudica() -> Scheme {
    let config = pudica_control::Config::default();
    Scheme {
        packets: PacketSizes { padding: config.probe_size, ..PacketSizes::default() },
        ..under_webrtc(ControllerConfig::Pudica(config), FeedbackStyle::PerPacket)
    }
}

/// BBR with what specs/bbr.md 6 says a sender of media owes it: less for the encoder while the pacer is behind.
fn bbr_of(config: bbr_control::Config, feedback: FeedbackStyle) -> Scheme {
    under_webrtc(ControllerConfig::Bbr(config), feedback)
        .reserving(Reserve::Cut { beyond: Span::from_millis(50), share: 0.85 })
}

/// BBR v1 as libwebrtc had it, with libwebrtc's reports: what Camel's figures show (specs/bbr.md).
pub(super) fn bbr() -> Scheme {
    bbr_of(bbr_control::Config::of_camel(), FeedbackStyle::Twcc)
}

/// BBR with the rules for media of specs/bbr.md 6.
pub(super) fn bbr_for_media() -> Scheme {
    bbr_of(bbr_control::Config::for_media(), FeedbackStyle::PerPacket)
}
