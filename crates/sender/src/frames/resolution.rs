//! At which size to encode.

mod ladder;
mod quality_scaler;

use thalweg_types::EncodedFrame;
use thalweg_units::{ConfigError, Rate, Size, Span, Time};

use crate::event::Why;

pub(super) use ladder::rungs;
pub use ladder::{Ladder, LadderConfig};
pub use quality_scaler::{QualityScaler, QualityScalerConfig};

/// How the frame size is chosen.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Config {
    /// Always the camera's size.
    #[default]
    Fixed,
    /// Vidaptive's: down in outages, up when the encoder leaves rate unused (specs/vidaptive.md 8).
    Ladder(LadderConfig),
    /// WebRTC's: by the quantiser.
    QualityScaler(QualityScalerConfig),
}

impl Config {
    /// Builds the chooser in its initial state for a camera of this size.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn build(&self, source: Size) -> Result<Resolution, ConfigError> {
        Ok(match self {
            Config::Fixed => Resolution::Fixed(source),
            Config::Ladder(config) => Resolution::Ladder(config.build(source)?),
            Config::QualityScaler(config) => Resolution::QualityScaler(config.build(source)?),
        })
    }
}

/// Signals to the size chooser with each camera frame, after alpha was chosen.
#[derive(Debug, Clone, Copy)]
pub struct Signals {
    /// The time.
    pub now: Time,
    /// True if so few frames get through that the path is in an outage.
    pub outage: bool,
    /// alpha in force (1 in schemes without the optimiser).
    pub alpha: f64,
    /// The encoder's target rate.
    pub target: Rate,
    /// The camera's interval.
    pub interval: Span,
}

/// The size chooser in its running state.
#[derive(Debug, Clone)]
pub enum Resolution {
    /// See [`Config::Fixed`].
    Fixed(Size),
    /// See [`Config::Ladder`].
    Ladder(Ladder),
    /// See [`Config::QualityScaler`].
    QualityScaler(QualityScaler),
}

impl Resolution {
    /// The size in force.
    pub fn size(&self) -> Size {
        match self {
            Resolution::Fixed(size) => *size,
            Resolution::Ladder(ladder) => ladder.size(),
            Resolution::QualityScaler(scaler) => scaler.size(),
        }
    }

    /// A camera frame arrived: the new size and why, if it changes.
    pub fn on_camera(&mut self, signals: &Signals) -> Option<(Size, Why)> {
        match self {
            Resolution::Fixed(_) => None,
            Resolution::Ladder(ladder) => ladder.on_camera(signals),
            Resolution::QualityScaler(scaler) => scaler.on_camera(signals),
        }
    }

    /// A frame was encoded (`Some`) or the encoder's rate control dropped it (`None`), while aiming at the signalled
    /// target.
    pub fn on_encoded(&mut self, now: Time, encoded: Option<&EncodedFrame>) {
        match self {
            Resolution::Fixed(_) => {}
            Resolution::Ladder(ladder) => ladder.on_encoded(now, encoded),
            Resolution::QualityScaler(scaler) => scaler.on_encoded(now, encoded),
        }
    }
}
