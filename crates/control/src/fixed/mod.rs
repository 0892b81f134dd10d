//! A rate that never changes: the trivial proof of the seam, and the sender that ignores the network.

use thalweg_units::{ConfigError, Rate, above, check};

use crate::controller::{Controller, SendLimits};
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

/// See the module.
#[derive(Debug, Clone, Copy)]
pub struct Fixed(Rate);

impl Fixed {
    /// The controller.
    ///
    /// # Errors
    /// When the rate is zero.
    pub fn new(config: Config) -> Result<Fixed, ConfigError> {
        check("fixed.rate", config.rate).within(above(Rate::ZERO), "1Mbps")?;
        Ok(Fixed(config.rate))
    }
}

impl Controller for Fixed {
    fn on_feedback(&mut self, _feedback: &Feedback<'_>) {}

    fn limits(&self) -> SendLimits {
        SendLimits::of_rate(self.0)
    }
}
