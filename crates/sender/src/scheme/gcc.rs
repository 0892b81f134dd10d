//! WebRTC as Chromium ships it (specs/gcc.md), and as it was when the papers measured it.

use alloc::string::String;

use thalweg_control::{LossDetectionConfig, gcc};
use thalweg_types::PacketSizes;
use thalweg_units::Span;

use super::{ControllerConfig, FeedbackStyle, FramesConfig, ReceiverKind, Scheme};
use crate::frames::rate_targeted::{self, TargetBase};
use crate::frames::{resolution, safeguards};
use crate::{pacing, repair};

/// GCC; pacing up to 40 ms ahead and draining within 2 s; the target is the estimate less overhead, the size follows
/// the quantiser.
pub(super) fn webrtc() -> Scheme {
    composed(gcc::Config::default(), Span::from_millis(40), resolution::QualityScalerConfig::default())
}

/// GCC of May 2023, before the pacer's bursts (b202bc1, November 2023: "Per default set PacingController burst interval
/// to 40ms").
pub(super) fn webrtc_of_2023() -> Scheme {
    composed(gcc::Config::of_2023(), Span::ZERO, resolution::QualityScalerConfig::default())
}

/// GCC of August 2017: the pacer worked every 5 ms (`kMinPacketLimitMs`), and the size followed the average quantiser
/// of the last 150 frames (`quality_scaler.cc` at 4c14009).
pub(super) fn webrtc_of_2017() -> Scheme {
    let scaler = resolution::QualityScalerConfig { moving: Some(150), ..resolution::QualityScalerConfig::default() };
    composed(gcc::Config::of_2017(), Span::from_millis(5), scaler)
}

/// Where receivers report what they lost once in some seconds, and nothing else. A report is missing after as long as for
/// the controller's back-off.
pub(super) fn by_loss() -> Scheme {
    let controller = gcc::Config::by_loss();
    let mut scheme = composed(controller.clone(), Span::from_millis(40), resolution::QualityScalerConfig::default());
    scheme.loss_detection.feedback_timeout = controller.rtt_limit.unwrap_or(scheme.loss_detection.feedback_timeout);
    scheme
}

fn composed(controller: gcc::Config, burst: Span, scaler: resolution::QualityScalerConfig) -> Scheme {
    Scheme {
        name: String::new(),
        controller: ControllerConfig::Gcc(controller),
        pacing: pacing::Config {
            rate: pacing::PacingRate::Controller,
            burst,
            drain_within: Some(Span::from_secs(2)),
            ..pacing::Config::default()
        },
        padding: None,
        padding_content: None,
        frames: FramesConfig::RateTargeted(rate_targeted::Config {
            base: TargetBase::CapacityLessOverhead,
            safeguards: safeguards::Config::NONE,
            resolution: resolution::Config::QualityScaler(scaler),
            ..rate_targeted::Config::default()
        }),
        repair: Some(repair::Config::default()),
        feedback: FeedbackStyle::Twcc,
        receiver: ReceiverKind::Standard,
        packets: PacketSizes::default(),
        // libwebrtc has no probe timeout: it sends at its rate whether it is acknowledged or not. A lost report is no
        // lost media.
        loss_detection: LossDetectionConfig {
            probe_packets: 0,
            unreported_are_lost: false,
            ..LossDetectionConfig::default()
        },
        ecn: None,
    }
}
