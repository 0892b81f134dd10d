//! Which model, and its parameters.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thalweg_units::{ConfigError, FrameRate, Rate, check};

use super::fixfps::Fixfps;
use super::recordings::Recordings;
use super::simple::{Cbr, Sharing};
use super::statistical::Statistical;

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
    /// Noise about the target, and transients.
    Statistical(Statistical),
    /// Recorded frames.
    Trace(Recordings),
    /// A shared screen.
    Sharing(Sharing),
    /// Recorded frames in steady state, transients after large changes.
    Hybrid(Hybrid),
    /// Packets at a constant rate.
    Cbr(Cbr),
}

/// Recorded frames in steady state, transients after large changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hybrid {
    /// The recordings.
    pub recordings: Recordings,
    /// How targets are taken, and the transients; its noise of sizes is not used.
    pub transients: Statistical,
}

impl Default for Hybrid {
    fn default() -> Hybrid {
        Hybrid { recordings: Recordings::default(), transients: Statistical::hybrid() }
    }
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
        FrameRate::whole(match self.model {
            TrafficModel::Sharing(_) => 5,
            TrafficModel::Cbr(_) => 240,
            _ => 30,
        })
    }

    /// Checks that the parameters are in range; recordings are read by [`TrafficEncoder::new`](super::TrafficEncoder).
    ///
    /// # Errors
    /// When one is not.
    pub fn check(&self) -> Result<(), ConfigError> {
        check("traffic rates", format_args!("{} to {}", self.min_rate, self.max_rate))
            .is(self.min_rate <= self.max_rate && self.max_rate > Rate::ZERO, "min <= max and max above 0")?;
        match &self.model {
            TrafficModel::Fixfps(config) => config.check(),
            TrafficModel::Statistical(config) => config.check(),
            TrafficModel::Hybrid(config) => config.transients.check(),
            TrafficModel::Sharing(config) => config.check(),
            TrafficModel::Cbr(config) => config.check(),
            TrafficModel::Trace(_) => Ok(()),
        }
    }
}

/// Writes the model's name as [`FromStr`] reads it.
impl fmt::Display for TrafficModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrafficModel::Fixfps(_) => f.write_str("fixfps"),
            TrafficModel::Statistical(config) if *config == Statistical::syncodecs() => f.write_str("stats"),
            TrafficModel::Statistical(_) => f.write_str("statistical"),
            TrafficModel::Trace(config) => write!(f, "trace:{}", config.folder),
            TrafficModel::Sharing(_) => f.write_str("sharing"),
            TrafficModel::Hybrid(config) => write!(f, "hybrid:{}", config.recordings.folder),
            TrafficModel::Cbr(_) => f.write_str("cbr"),
        }
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Config { min_rate, max_rate, model } = self;
        write!(f, "traffic model {model}, {min_rate} to {max_rate}; sizes of frames only, no quality")
    }
}

/// No model has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown traffic model '{0}': expected fixfps, stats, statistical, sharing, cbr, trace:FOLDER or hybrid:FOLDER"
)]
pub struct UnknownModel(String);

impl FromStr for TrafficModel {
    type Err = UnknownModel;

    /// Reads a name; parameters take their defaults. `stats` is syncodecs' statistical model, `statistical` that of RFC
    /// 8593; a folder of recordings follows a colon.
    fn from_str(text: &str) -> Result<TrafficModel, UnknownModel> {
        let recordings = |folder: &str| Recordings { folder: folder.into(), ..Recordings::default() };
        match text.split_once(':').unwrap_or((text, "")) {
            ("fixfps", "") => Ok(TrafficModel::Fixfps(Fixfps::default())),
            ("stats", "") => Ok(TrafficModel::Statistical(Statistical::syncodecs())),
            ("statistical", "") => Ok(TrafficModel::Statistical(Statistical::default())),
            ("sharing", "") => Ok(TrafficModel::Sharing(Sharing::default())),
            ("cbr", "") => Ok(TrafficModel::Cbr(Cbr::default())),
            ("trace", folder) if !folder.is_empty() => Ok(TrafficModel::Trace(recordings(folder))),
            ("hybrid", folder) if !folder.is_empty() => {
                Ok(TrafficModel::Hybrid(Hybrid { recordings: recordings(folder), ..Hybrid::default() }))
            }
            _ => Err(UnknownModel(text.to_string())),
        }
    }
}
