//! A rate that never changes: the trivial proof of the seam, and the sender that ignores the network.

use thalweg_units::{ConfigError, Rate};

use crate::controller::{Allowance, Controller};
use crate::feedback::Feedback;

/// The rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// What is sent, whatever happens.
    pub rate: Rate,
}

impl Default for Config {
    fn default() -> Config {
        Config { rate: Rate::from_kbps(1000) }
    }
}

impl Config {
    /// The controller.
    ///
    /// # Errors
    /// When the rate is zero.
    pub fn build(self) -> Result<Fixed, ConfigError> {
        if self.rate == Rate::ZERO {
            return Err(ConfigError::out_of_range("fixed.rate", self.rate, "above 0, such as 1Mbps"));
        }
        Ok(Fixed(self.rate))
    }
}

/// See the module.
#[derive(Debug, Clone, Copy)]
pub struct Fixed(Rate);

impl Controller for Fixed {
    fn on_feedback(&mut self, _feedback: &Feedback<'_>) {}

    fn allowance(&self) -> Allowance {
        Allowance::of_rate(self.0)
    }
}
