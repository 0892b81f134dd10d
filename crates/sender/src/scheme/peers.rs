//! Controllers that the papers are measured against, each under WebRTC's frames: paced at its own rate, the encoder aimed at its capacity.

use thalweg_control::{nada as nada_control, scream as scream_control};

use super::{ControllerConfig, FeedbackStyle, Scheme, gcc};
use crate::pacing;

/// A controller in GCC's place.
fn under_webrtc(controller: ControllerConfig, feedback: FeedbackStyle) -> Scheme {
    Scheme { controller, pacing: pacing::Config::default(), feedback, ..gcc::webrtc() }
}

/// SCReAM v2 (scream.md): its draft wants reports far more often than Chromium sends them.
pub(super) fn scream() -> Scheme {
    under_webrtc(ControllerConfig::Scream(scream_control::Config::default()), FeedbackStyle::PerPacket)
}

/// NADA (nada.md).
pub(super) fn nada() -> Scheme {
    under_webrtc(ControllerConfig::Nada(nada_control::Config::default()), FeedbackStyle::Twcc)
}
