//! A rate that never changes: the simplest controller, and the model of a sender that ignores the network.

use thalweg_units::{ConfigError, Rate, above, check};

use crate::controller::{Controller, SendLimits};
use crate::feedback::Feedback;

/// Configuration of the fixed rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The send rate, whatever happens on the path.
    pub rate: Rate,
}

impl Default for Config {
    fn default() -> Config {
        Config { rate: Rate::from_kbps(1000) }
    }
}

/// The fixed-rate controller.
#[derive(Debug, Clone, Copy)]
pub struct Fixed(Rate);

impl Fixed {
    /// A controller of this rate.
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
