//! Which model, and its parameters.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thalweg_units::{ConfigError, FrameRate, Rate, check};

use super::fixfps::Fixfps;

/// A traffic model and the range of rates in which it follows a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Min target rate; a lower target counts as this (R_min, specs/rmcat.md 5).
    pub min_rate: Rate,
    /// Max target rate; a higher target counts as this (R_max).
    pub max_rate: Rate,
    /// The model.
    pub model: TrafficModel,
}

/// The models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrafficModel {
    /// Every frame exactly its share of the target.
    Fixfps(Fixfps),
}

impl Default for Config {
    fn default() -> Config {
        Config { min_rate: Rate::from_kbps(150), max_rate: Rate::from_kbps(1500), model: TrafficModel::default() }
    }
}

impl Default for TrafficModel {
    fn default() -> TrafficModel {
        TrafficModel::Fixfps(Fixfps::default())
    }
}

impl Config {
    /// This model with the default bounds.
    pub fn of(model: TrafficModel) -> Config {
        Config { model, ..Config::default() }
    }

    /// The frame rate that the model is meant for: the camera decides, so give the video this one.
    pub fn frame_rate(&self) -> FrameRate {
        FrameRate::whole(30)
    }

    /// Checks that the parameters are in range.
    ///
    /// # Errors
    /// When one is not.
    pub fn check(&self) -> Result<(), ConfigError> {
        check("traffic rates", format_args!("{} to {}", self.min_rate, self.max_rate))
            .is(self.min_rate <= self.max_rate && self.max_rate > Rate::ZERO, "min <= max and max above 0")?;
        match &self.model {
            TrafficModel::Fixfps(config) => config.check(),
        }
    }
}

impl TrafficModel {
    /// Its name.
    pub const fn name(&self) -> &'static str {
        match self {
            TrafficModel::Fixfps(_) => "fixfps",
        }
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.model.name();
        write!(f, "traffic model {name}, {} to {}; sizes of frames only, no quality", self.min_rate, self.max_rate)
    }
}

/// No model has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a traffic model: choose fixfps")]
pub struct UnknownModel(String);

impl FromStr for TrafficModel {
    type Err = UnknownModel;

    /// Reads a name; parameters take their defaults.
    fn from_str(text: &str) -> Result<TrafficModel, UnknownModel> {
        match text {
            "fixfps" => Ok(TrafficModel::Fixfps(Fixfps::default())),
            _ => Err(UnknownModel(text.to_string())),
        }
    }
}
