//! Rebera (specs/rebera.md): whole frames leave as trains that measure the path, a forecast makes a budget, and of each group of frames those
//! worth most are sent.

use alloc::string::String;

use thalweg_control::End;
use thalweg_control::estimate::forecast::{self, RlsConfig};
use thalweg_control::rebera::{self, Backlog, Errors, MarginConfig, MeasurementConfig, Short};
use thalweg_media::PacketSizes;
use thalweg_units::{Bytes, Rate};

use super::{ControllerConfig, FeedbackStyle, FramesConfig, ReceiverKind, Scheme};
use crate::frames::selection::{self, Room};
use crate::frames::{resolution, target_forecast};
use crate::pacing::{self, PacingRate};
use crate::repair::{self, fec};

/// What a packet says of itself where the receiver measures: the bytes sent before it, in a header extension (RFC 8285: 4 bytes and their
/// element, padded to whole words).
const BYTES_BEFORE: Bytes = Bytes::new(8);

/// The sender measures, from the arrivals that transport-wide feedback reports. No pacing, no window, nothing is retransmitted.
pub(super) fn measured_at_sender() -> Scheme {
    Scheme {
        name: String::new(),
        controller: ControllerConfig::Rebera(rebera::Config::default()),
        pacing: pacing::Config { rate: PacingRate::Unpaced, ..pacing::Config::default() },
        padding: None,
        padding_content: None,
        frames: FramesConfig::Selection(selection::Config {
            // The start rate is a convention here and says nothing of the path.
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
    }
}

/// The receiver measures, as in the paper.
fn measured_at_receiver(config: rebera::Config) -> Scheme {
    let scheme = measured_at_sender();
    let packets = PacketSizes { overhead: scheme.packets.overhead + BYTES_BEFORE, ..scheme.packets };
    let controller = ControllerConfig::Rebera(rebera::Config { measured_by: End::Receiver, ..config });
    Scheme { controller, receiver: ReceiverKind::Measures(config.measurement), packets, ..scheme }
}

/// The receiver measures; what waits is taken off a plan, and trains too short to be measured count as long as the shortest that is.
pub(super) fn rebera() -> Scheme {
    measured_at_receiver(rebera::Config::default())
}

/// Errors of forecasts count in bit/s, as the paper has them, and everything else is ours.
pub(super) fn with_absolute_errors() -> Scheme {
    let margin = MarginConfig { errors: Errors::Absolute, ..MarginConfig::default() };
    measured_at_receiver(rebera::Config { margin, ..rebera::Config::default() })
}

/// What earlier frames of a group left of its budget is for later ones.
pub(super) fn spending_what_is_left() -> Scheme {
    let mut scheme = rebera();
    if let FramesConfig::Selection(frames) = &mut scheme.frames {
        frames.room = Room::Unspent;
    }
    scheme
}

/// To the letter: everything that is under way is taken off, what comes too close together says nothing, and errors count in bit/s.
pub(super) fn of_the_paper() -> Scheme {
    let measurement = MeasurementConfig { short: Short::LeftOut, ..MeasurementConfig::default() };
    let margin = MarginConfig { errors: Errors::Absolute, first: 0, max_ratio: 1.0, ..MarginConfig::default() };
    let predictor = forecast::Config::Rls(RlsConfig { max_ratio: Some(2.0), min_ratio: 0.0, ..RlsConfig::default() });
    let backlog = Backlog::All;
    measured_at_receiver(rebera::Config { measurement, margin, predictor, backlog, ..rebera::Config::default() })
}

/// With FEC, unequal: a keyframe, which thirty-one frames hang on, counts three times, the base twice, and the highest layer, which
/// nothing refers to, not at all. What is asked for is retransmitted within the same share of the wire.
pub(super) fn with_fec() -> Scheme {
    let fec = fec::Config { keyframe_weight: 3.0, layer_weights: [2.0, 1.0, 0.0, 0.0], ..fec::Config::default() };
    let budget = Some(repair::BudgetConfig::default());
    let repair = repair::Config { fec: Some(fec), budget, ..repair::Config::default() };
    Scheme { repair: Some(repair), ..rebera() }
}

/// Another scheme with frames in layers, of which those worth most are sent within what its controller allows; `None` where its encoder is not
/// aimed at a rate.
pub(super) fn layered(scheme: Scheme) -> Option<Scheme> {
    let FramesConfig::RateTargeted(frames) = &scheme.frames else { return None };
    let (encoder, resolution) = (frames.encoder, frames.resolution.clone());
    let frames = FramesConfig::Selection(selection::Config { encoder, resolution, ..selection::Config::default() });
    Some(Scheme { frames, ..scheme })
}

/// Another scheme whose encoder is aimed at what Rebera's filter makes of its estimate; `None` where it is not aimed at a rate.
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
