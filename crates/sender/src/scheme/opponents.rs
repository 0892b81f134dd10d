//! Opponents of these years (docs/papers/opponents.md): a pacer around GCC, and two rules that thousands run.

use thalweg_control::{belabox as belabox_control, openpilot as openpilot_control};
use thalweg_units::Span;

use super::peers::{by_reports, under_webrtc};
use super::{ControllerConfig, FeedbackStyle, Scheme, gcc};
use crate::pacing::{self, PacingRate, bucket};

/// GCC with tokens for a part of each frame in place of libwebrtc's bursts of 40 ms.
pub(super) fn ace_n() -> Scheme {
    let scheme = gcc::webrtc();
    let pacing = pacing::Config { burst: Span::ZERO, bucket: Some(bucket::Config::default()), ..scheme.pacing };
    Scheme { pacing, ..scheme }
}

/// Belabox, paced with SRT's overhead; SRT acknowledges every 10 ms.
pub(super) fn belabox() -> Scheme {
    let controller = ControllerConfig::Belabox(belabox_control::Config::default());
    by_reports(under_webrtc(controller, FeedbackStyle::PerPacket))
}

/// openpilot; aiortc sends each frame at once.
pub(super) fn openpilot() -> Scheme {
    let controller = ControllerConfig::Openpilot(openpilot_control::Config::default());
    let pacing = pacing::Config { rate: PacingRate::Unpaced, ..pacing::Config::default() };
    Scheme { pacing, ..by_reports(under_webrtc(controller, FeedbackStyle::Twcc)) }
}
