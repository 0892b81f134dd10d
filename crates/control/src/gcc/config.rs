//! GCC's parameters.

use thalweg_units::{ConfigError, Rate, Span};

use super::{Gcc, acknowledged_rate, aimd, alr, loss, overuse, probe_controller, push_back};

/// GCC as libwebrtc runs it for a camera today; other ages of it by changing a part.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The estimate before feedback (WebRTC: 300 kbps).
    pub start: Rate,
    /// The estimate is never lower.
    pub min: Rate,
    /// Pacing is this many times the target: 1.1 with transport-wide feedback, 2.5 before it was there (specs/gcc.md 11).
    pub pacing_factor: f64,
    /// The overuse detector.
    pub overuse: overuse::Config,
    /// The acknowledged rate.
    pub acknowledged_rate: acknowledged_rate::Config,
    /// The delay-based rate control.
    pub aimd: aimd::Config,
    /// The loss-based rate.
    pub loss: loss::Config,
    /// Probing.
    pub probing: probe_controller::Config,
    /// Application-limited regions.
    pub alr: alr::Config,
    /// Push-back; `None` switches it off.
    #[cfg_attr(feature = "serde", serde(default))]
    pub push_back: Option<push_back::Config>,
    /// Back off when the round trip, counted with how long nothing was heard, exceeds this (specs/gcc.md 7) ...
    pub rtt_limit: Span,
    /// ... every so often ...
    pub rtt_back_off_interval: Span,
    /// ... to this share.
    pub rtt_back_off: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            start: Rate::from_kbps(300),
            min: Rate::from_kbps(30),
            pacing_factor: 1.1,
            overuse: overuse::Config::default(),
            acknowledged_rate: acknowledged_rate::Config::default(),
            aimd: aimd::Config::default(),
            loss: loss::Config::default(),
            probing: probe_controller::Config::default(),
            alr: alr::Config::default(),
            push_back: Some(push_back::Config::default()),
            rtt_limit: Span::from_secs(3),
            rtt_back_off_interval: Span::from_secs(1),
            rtt_back_off: 0.8,
        }
    }
}

impl Config {
    /// Pacing at 2.5 times the target, as before transport-wide feedback.
    pub fn legacy_pacing() -> Config {
        Config { pacing_factor: 2.5, ..Config::default() }
    }

    /// The controller.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn build(self) -> Result<Gcc, ConfigError> {
        if self.min == Rate::ZERO || self.start < self.min {
            let value = alloc::format!("min {}, start {}", self.min, self.start);
            return Err(ConfigError::out_of_range("gcc rates", value, "0 < min <= start"));
        }
        if !(self.pacing_factor >= 1.0 && self.pacing_factor <= 10.0) {
            return Err(ConfigError::out_of_range("gcc.pacing_factor", self.pacing_factor, "1 to 10, such as 1.1"));
        }
        if !(self.aimd.beta > 0.0 && self.aimd.beta < 1.0) {
            return Err(ConfigError::out_of_range(
                "gcc.aimd.beta",
                self.aimd.beta,
                "above 0 and below 1, such as 0.85",
            ));
        }
        if !(self.aimd.growth > 1.0 && self.aimd.growth <= 2.0) {
            return Err(ConfigError::out_of_range("gcc.aimd.growth", self.aimd.growth, "above 1 and at most 2"));
        }
        if !(self.overuse.initial_threshold > 0.0 && self.overuse.rise >= 0.0 && self.overuse.fall >= 0.0) {
            let value = alloc::format!("{:?}", self.overuse);
            return Err(ConfigError::out_of_range(
                "gcc.overuse",
                value,
                "a threshold above 0 ms, rise and fall not negative",
            ));
        }
        Ok(Gcc::new(self))
    }
}
