//! Vidaptive's ablations: Copa alone, then with one part added after another (specs/vidaptive.md 9).

use alloc::string::String;

use thalweg_control::{LossDetectionConfig, copa};
use thalweg_types::PacketSizes;
use thalweg_units::Rate;

use super::{ControllerConfig, FeedbackStyle, FramesConfig, ReceiverKind, Scheme};
use crate::frames::rate_targeted::{self, TargetBase};
use crate::frames::{resolution, safeguards};
use crate::pacing::{self, PacingRate};
use crate::{padding, repair};

/// Copa's window and CC-Rate pacing; the encoder's target is CC-Rate, its size follows the quantiser as in WebRTC.
pub(super) fn alone() -> Scheme {
    Scheme {
        name: String::new(),
        controller: ControllerConfig::Copa(copa::Config { delta: 0.9, ..copa::Config::default() }),
        pacing: pacing::Config {
            rate: PacingRate::WindowRate(1.0),
            limit: Some(Rate::from_kbps(12_000)),
            ..pacing::Config::default()
        },
        padding: None,
        padding_content: None,
        frames: frames(safeguards::Config::NONE),
        repair: Some(repair::Config::default()),
        feedback: FeedbackStyle::PerPacket,
        receiver: ReceiverKind::Standard,
        packets: PacketSizes::default(),
        loss_detection: LossDetectionConfig::default(),
        ecn: None,
    }
}

/// With dummies too.
pub(super) fn with_dummies() -> Scheme {
    let pacing = pacing::Config { limit: None, ..alone().pacing };
    Scheme { padding: Some(padding::Config::default()), pacing, ..alone() }
}

/// With pause and reset too.
pub(super) fn with_dummies_and_safeguards() -> Scheme {
    Scheme { frames: frames(safeguards::Config::default()), ..with_dummies() }
}

fn frames(safeguards: safeguards::Config) -> FramesConfig {
    FramesConfig::RateTargeted(rate_targeted::Config {
        // Otherwise the encoder's target would exceed the path, and the delays of these ablations would all be queueing
        // delay.
        base: TargetBase::PacingRateLessOverhead,
        safeguards,
        // WebRTC's own, which the authors' ablations kept (Vidaptive section 5.3: the other modules unchanged).
        queue_limit: Some(rate_targeted::MAX_EXPECTED_QUEUE),
        resolution: resolution::Config::QualityScaler(resolution::QualityScalerConfig::default()),
        ..rate_targeted::Config::default()
    })
}
