//! Controllers that the papers are measured against, each under WebRTC's frames: paced at its own rate, the encoder aimed at its capacity.

use thalweg_control::{bbr as bbr_control, nada as nada_control, scream as scream_control};

use super::{ControllerConfig, FeedbackStyle, Scheme, gcc};
use crate::pacing;

/// A controller in GCC's place.
fn under_webrtc(controller: ControllerConfig, feedback: FeedbackStyle) -> Scheme {
    Scheme { controller, pacing: pacing::Config::default(), feedback, ..gcc::webrtc() }
}

/// BBR v1 as the Camel paper has it (bbr.md).
pub(super) fn bbr() -> Scheme {
    under_webrtc(ControllerConfig::Bbr(bbr_control::Config::of_camel()), FeedbackStyle::PerPacket)
}

/// BBR that an encoder's pauses do not mislead (bbr.md section 6).
pub(super) fn bbr_for_media() -> Scheme {
    under_webrtc(ControllerConfig::Bbr(bbr_control::Config::for_media()), FeedbackStyle::PerPacket)
}

/// SCReAM v2 (scream.md): its draft wants reports far more often than Chromium sends them.
pub(super) fn scream() -> Scheme {
    under_webrtc(ControllerConfig::Scream(scream_control::Config::default()), FeedbackStyle::PerPacket)
}

/// NADA (nada.md).
pub(super) fn nada() -> Scheme {
    under_webrtc(ControllerConfig::Nada(nada_control::Config::default()), FeedbackStyle::Twcc)
}
