//! Controllers that the papers compare with, each with WebRTC's frame policy: paced at its own rate, with its capacity
//! as the encoder's target.

use thalweg_control::{LossDetectionConfig, bbr as bbr_control, nada as nada_control, pudica as pudica_control};
use thalweg_control::{scream as scream_control, scream_libwebrtc, sqp as sqp_control};
use thalweg_types::PacketSizes;
use thalweg_units::Span;

use super::{ControllerConfig, FeedbackStyle, Scheme, gcc};
use crate::frames::rate_targeted::Reserve;
use crate::pacing;

/// This controller in place of GCC.
pub(super) fn under_webrtc(controller: ControllerConfig, style: FeedbackStyle) -> Scheme {
    let loss_detection = LossDetectionConfig::default();
    Scheme { controller, pacing: pacing::Config::default(), feedback: style, loss_detection, ..gcc::webrtc() }
}

/// With losses as receivers report them: a lost report is no lost media.
pub(super) fn by_reports(mut scheme: Scheme) -> Scheme {
    scheme.loss_detection.unreported_are_lost = false;
    scheme
}

/// SCReAM v2 (specs/scream.md); its draft expects reports far more often than Chromium sends them.
pub(super) fn scream() -> Scheme {
    under_webrtc(ControllerConfig::Scream(scream_control::Config::default()), FeedbackStyle::PerPacket)
}

/// SCReAM v2 as libwebrtc has it (specs/l4s.md 3.1): with the reports of its own receiver, and packets that leave up to 10 ms ahead of
/// their pace. In calls without congestion for 15 s libwebrtc lets them run 40 ms ahead.
pub(super) fn scream_of_libwebrtc() -> Scheme {
    let controller = ControllerConfig::ScreamLibwebrtc(scream_libwebrtc::Config::default());
    let pacing = pacing::Config { burst: Span::from_millis(10), ..pacing::Config::default() };
    by_reports(Scheme { pacing, ..under_webrtc(controller, FeedbackStyle::CcfbByFrame) })
}

/// NADA (specs/nada.md).
pub(super) fn nada() -> Scheme {
    by_reports(under_webrtc(ControllerConfig::Nada(nada_control::Config::default()), FeedbackStyle::Twcc))
}

/// SQP (specs/sqp.md): each frame leaves at twice its rate; no packet waits for a window.
pub(super) fn sqp() -> Scheme {
    under_webrtc(ControllerConfig::Sqp(sqp_control::Config::default()), FeedbackStyle::PerPacket)
}

/// Pudica (specs/pudica.md): each frame leaves at rho times its rate, followed by tiny probes.
pub(super) fn pudica() -> Scheme {
    let config = pudica_control::Config::default();
    Scheme {
        packets: PacketSizes { padding: config.probe_size, ..PacketSizes::default() },
        ..under_webrtc(ControllerConfig::Pudica(config), FeedbackStyle::PerPacket)
    }
}

/// BBR with what specs/bbr.md 6 requires of a media sender: a lower encoder target while the pacer is behind. Where a link
/// falls faster than BtlBw forgets, that is not enough: BBR's pacer does not drain sooner than its rate, as GCC's does.
fn bbr_of(config: bbr_control::Config, feedback: FeedbackStyle) -> Scheme {
    under_webrtc(ControllerConfig::Bbr(config), feedback)
        .reserving(Reserve::Cut { beyond: Span::from_millis(50), share: 0.85 })
        .with_bounded_queue()
}

/// BBR v1 as in libwebrtc, with libwebrtc's reports: the BBR of Camel's figures (specs/bbr.md).
pub(super) fn bbr() -> Scheme {
    by_reports(bbr_of(bbr_control::Config::of_camel(), FeedbackStyle::Twcc))
}

/// BBR with the rules for media in specs/bbr.md 6.
pub(super) fn bbr_for_media() -> Scheme {
    bbr_of(bbr_control::Config::for_media(), FeedbackStyle::PerPacket)
}
