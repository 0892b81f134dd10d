//! Rebera (specs/rebera.md): frames leave as packet trains that measure the path, a forecast gives a budget for each
//! group of frames, and those of the group that are worth most are sent.

use alloc::string::String;

use thalweg_control::estimate::forecast::{self, RlsConfig};
use thalweg_control::rebera::{self, Backlog, Errors, MarginConfig, MeasurementConfig, Short};
use thalweg_control::{End, LossDetectionConfig};
use thalweg_types::PacketSizes;
use thalweg_units::{Bytes, Rate};

use super::{ControllerConfig, FeedbackStyle, FramesConfig, ReceiverKind, Scheme};
use crate::frames::selection::{self, Aim, Room};
use crate::frames::{resolution, target_forecast};
use crate::pacing::{self, PacingRate};
use crate::repair::{self, fec};

/// Added to each packet where the receiver measures: the number of bytes sent before it, in a header extension
/// (RFC 8285: 4 bytes and their element header, padded to whole words).
const BYTES_BEFORE: Bytes = Bytes::new(8);

/// The rate of the paper's video with all frames (Rebera section V.B: Crew at a quantiser of 36).
const PRECODED: Rate = Rate::from_kbps(415);

/// The sender measures, from the arrival times in transport-wide feedback. No pacing, no window, no retransmissions.
pub(super) fn measured_at_sender() -> Scheme {
    Scheme {
        name: String::new(),
        controller: ControllerConfig::Rebera(rebera::Config::default()),
        pacing: pacing::Config { rate: PacingRate::Unpaced, ..pacing::Config::default() },
        padding: None,
        padding_content: None,
        frames: FramesConfig::Selection(selection::Config {
            // The start rate is only a convention here, unrelated to the path.
            resolution: resolution::Config::QualityScaler(resolution::QualityScalerConfig {
                start_rate_qvga: Rate::ZERO,
                ..resolution::QualityScalerConfig::default()
            }),
            ..selection::Config::default()
        }),
        repair: None,
        feedback: FeedbackStyle::Twcc,
        receiver: ReceiverKind::Standard,
        packets: PacketSizes { min_packets: 2, ..PacketSizes::default() },
        loss_detection: LossDetectionConfig::default(),
        ecn: None,
    }
}

/// The receiver measures, as in the paper.
fn measured_at_receiver(config: rebera::Config) -> Scheme {
    let scheme = measured_at_sender();
    let packets = PacketSizes { overhead: scheme.packets.overhead + BYTES_BEFORE, ..scheme.packets };
    let controller = ControllerConfig::Rebera(rebera::Config { measured_by: End::Receiver, ..config });
    Scheme { controller, receiver: ReceiverKind::Measures(config.measurement), packets, ..scheme }
}

/// The receiver measures. Queued bytes are subtracted from a budget, and a train too short to be measured counts as
/// long as the shortest measurable one.
pub(super) fn rebera() -> Scheme {
    measured_at_receiver(rebera::Config::default())
}

/// Forecast errors count in bit/s, as in the paper; everything else is ours.
pub(super) fn with_absolute_errors() -> Scheme {
    let margin = MarginConfig { errors: Errors::Absolute, ..MarginConfig::default() };
    measured_at_receiver(rebera::Config { margin, ..rebera::Config::default() })
}

/// Rebera that leaves the unspent budget of earlier frames of a group to later ones.
pub(super) fn spending_what_is_left() -> Scheme {
    let mut scheme = rebera();
    if let FramesConfig::Selection(frames) = &mut scheme.frames {
        frames.room = Room::Unspent;
    }
    scheme
}

/// To the letter: everything in flight is subtracted, trains too short are left out, and errors count in bit/s.
pub(super) fn of_the_paper() -> Scheme {
    let measurement = MeasurementConfig { short: Short::LeftOut, ..MeasurementConfig::default() };
    let margin = MarginConfig { errors: Errors::Absolute, first: 0, max_ratio: 1.0, ..MarginConfig::default() };
    let predictor = forecast::Config::Rls(RlsConfig { max_ratio: Some(2.0), min_ratio: 0.0, ..RlsConfig::default() });
    let backlog = Backlog::All;
    measured_at_receiver(rebera::Config { measurement, margin, predictor, backlog, ..rebera::Config::default() })
}

/// To the letter, with the video of the paper's testbed: encoded beforehand at one rate, whatever the budget, so that
/// the selection of frames alone follows the path.
pub(super) fn precoded() -> Scheme {
    let mut scheme = of_the_paper();
    if let FramesConfig::Selection(frames) = &mut scheme.frames {
        frames.aim = Aim::Fixed(PRECODED);
    }
    scheme
}

/// With FEC of unequal strength: a keyframe, on which thirty-one frames depend, counts three times, the base layer
/// twice, and the highest layer, to which nothing refers, not at all. Requested packets are retransmitted within the
/// same share of the wire.
pub(super) fn with_fec() -> Scheme {
    let fec = fec::Config { keyframe_weight: 3.0, layer_weights: [2.0, 1.0, 0.0, 0.0], ..fec::Config::default() };
    let budget = Some(repair::BudgetConfig::default());
    let repair = repair::Config { fec: Some(fec), budget, ..repair::Config::default() };
    Scheme { repair: Some(repair), ..rebera() }
}

/// Another scheme with frames in temporal layers, of which those worth most are sent within what its controller allows;
/// `None` if its encoder has no target rate.
pub(super) fn layered(scheme: Scheme) -> Option<Scheme> {
    let FramesConfig::RateTargeted(frames) = &scheme.frames else { return None };
    let (encoder, resolution) = (frames.encoder, frames.resolution.clone());
    let frames = FramesConfig::Selection(selection::Config { encoder, resolution, ..selection::Config::default() });
    Some(Scheme { frames, ..scheme })
}

/// Another scheme whose encoder's target is Rebera's forecast of its estimate; `None` if its encoder has no target
/// rate.
pub(super) fn forecasting(mut scheme: Scheme) -> Option<Scheme> {
    let FramesConfig::RateTargeted(frames) = &mut scheme.frames else { return None };
    frames.target_forecast = Some(target_forecast::Config::default());
    Some(scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_scheme_aimed_at_a_rate_can_forecast_it_and_no_other() {
        let forecasting: Scheme = "vidaptive+forecast".parse().unwrap();
        let FramesConfig::RateTargeted(frames) = forecasting.frames else { panic!("{forecasting:?}") };
        assert_eq!(frames.target_forecast, Some(target_forecast::Config::default()));
        for name in ["salsify+forecast", "rebera+forecast", "+forecast"] {
            assert!(name.parse::<Scheme>().is_err(), "{name}");
        }
    }

    #[test]
    fn any_scheme_aimed_at_a_rate_can_send_layers_and_no_other() {
        let layered: Scheme = "gcc+layers".parse().unwrap();
        let gcc: Scheme = "gcc".parse().unwrap();
        assert!(matches!(layered.frames, FramesConfig::Selection(_)) && layered.controller == gcc.controller);
        assert_eq!(layered.name, "gcc+layers");
        for name in ["salsify+layers", "rebera+layers", "+layers"] {
            assert!(name.parse::<Scheme>().is_err(), "{name}");
        }
    }
}
