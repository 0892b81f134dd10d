//! WebRTC as Chromium ships it (specs/gcc.md).

use alloc::string::String;

use thalweg_control::{feedback, gcc};
use thalweg_media::PacketSizes;
use thalweg_units::Span;

use super::{ControllerConfig, FeedbackStyle, FramesConfig, ReceiverKind, Scheme};
use crate::frames::rate_targeted::{self, TargetBase};
use crate::frames::{resolution, safeguards};
use crate::{pacing, repair};

/// GCC; pacing up to 40 ms ahead and draining within 2 s; the target is the estimate less overhead, the size follows
/// the quantiser.
pub(super) fn webrtc() -> Scheme {
    Scheme {
        name: String::new(),
        controller: ControllerConfig::Gcc(gcc::Config::default()),
        pacing: pacing::Config {
            rate: pacing::PacingRate::Controller,
            burst: Span::from_millis(40),
            drain_within: Some(Span::from_secs(2)),
            ..pacing::Config::default()
        },
        padding: None,
        padding_content: None,
        frames: FramesConfig::RateTargeted(rate_targeted::Config {
            base: TargetBase::CapacityLessOverhead,
            safeguards: safeguards::Config::NONE,
            resolution: resolution::Config::QualityScaler(resolution::QualityScalerConfig::default()),
            ..rate_targeted::Config::default()
        }),
        repair: Some(repair::Config::default()),
        feedback: FeedbackStyle::Twcc,
        receiver: ReceiverKind::Standard,
        packets: PacketSizes::default(),
        // libwebrtc has no probe timeout: it sends at its rate whether it is acknowledged or not.
        loss_detection: feedback::Config { probe_packets: 0, ..feedback::Config::default() },
    }
}
