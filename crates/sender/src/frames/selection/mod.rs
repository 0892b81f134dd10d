//! Frames selected by their worth: a group of frames has a budget, and of its frames those worth most are sent (Rebera;
//! specs/rebera.md 5 and 6).
//!
//! Frames are encoded in temporal layers ([`thalweg_types::layers`]), so that some can be left out and the rest still be
//! decoded. A controller that plans ahead sets the budget of a group ([`thalweg_control::MediaLimit::Period`]). With
//! any other the budget is what it allows for the duration of the group, less what is still queued.
//!
//! * [`Selector`]: which frames are sent, independent of clock and encoder; [`by_worth`]: the order of their worth;
//! * [`Selection`]: the policy.

mod estimates;
mod made;
mod policy;
mod priority;
mod selector;
#[cfg(test)]
mod tests;

use thalweg_types::layers;
use thalweg_units::{ConfigError, Rate, Size, above, above_to, check};

use super::rate_targeted::EncoderBounds;
use super::resolution;
pub use policy::Selection;
pub use priority::by_worth;
pub use selector::{Method, Room, Selector};

/// The parameters. \[P\] is from the paper, \[R\] a reading where it is silent (specs/rebera.md).
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// N and G: how many frames a group that begins with a keyframe has, and its layers (32 and 4 \[P\]).
    pub layers: layers::Config,
    /// How the budget is spent.
    pub method: Method,
    /// How much of the budget may be spent at a given time.
    pub room: Room,
    /// gamma: the weight of the newest size in the estimate of the layer's next one, 0..=1 (0.75 \[P\]).
    pub newest_size: f64,
    /// The encoder's target.
    pub aim: Aim,
    /// The encoder's bounds.
    pub encoder: EncoderBounds,
    /// How the size is chosen, once per group.
    pub resolution: resolution::Config,
}

/// The encoder's target.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Aim {
    /// This share of the group's budget, spread over its duration and corrected by the encoder's past output over its
    /// target (ours).
    Budget(f64),
    /// A constant rate: the paper's video was encoded beforehand.
    Fixed(Rate),
}

impl Default for Config {
    fn default() -> Config {
        Config {
            layers: layers::Config::default(),
            method: Method::default(),
            room: Room::default(),
            newest_size: 0.75,
            aim: Aim::Budget(0.95),
            encoder: EncoderBounds::default(),
            resolution: resolution::Config::Fixed,
        }
    }
}

impl Config {
    /// Builds the policy for a camera of this size.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn build(&self, source: Size) -> Result<Selection, ConfigError> {
        check("selection.newest_size", self.newest_size).within(0.0..=1.0, "0.75")?;
        match self.aim {
            Aim::Budget(share) => check("selection.aim.budget", share).within(above_to(0.0, 2.0), "1")?,
            Aim::Fixed(rate) => check("selection.aim.fixed", rate).within(above(Rate::ZERO), "600kbps")?,
        }
        self.encoder.check()?;
        let pattern = self.layers.build()?;
        let selector = Selector::new(self.method, self.room, pattern, self.newest_size);
        Ok(Selection::new(self, pattern, selector, self.resolution.build(source)?))
    }
}
