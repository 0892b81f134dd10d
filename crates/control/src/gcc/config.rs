//! GCC's parameters.

use thalweg_units::{ConfigError, Rate, Span, above_to, between, check};

use super::{acknowledged_rate, aimd, alr, loss, overuse, probe_controller, pushback};

/// GCC as libwebrtc runs it for a camera today; to run an older version, change the relevant part.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The estimate before feedback (WebRTC: 300 kbps).
    pub start: Rate,
    /// The min estimate.
    pub min: Rate,
    /// Pacing is this many times the target: 1.1 with transport-wide feedback, 2.5 before transport-wide feedback
    /// existed (specs/gcc.md 11).
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
    /// Pushback; `None` switches it off.
    #[cfg_attr(feature = "serde", serde(default, alias = "push_back"))]
    pub pushback: Option<pushback::Config>,
    /// Back off when the round-trip time, plus the time without feedback, exceeds this (specs/gcc.md 7) ...
    pub rtt_limit: Span,
    /// ... at this interval ...
    pub rtt_back_off_interval: Span,
    /// ... by this factor.
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
            pushback: Some(pushback::Config::default()),
            rtt_limit: Span::from_secs(3),
            rtt_back_off_interval: Span::from_secs(1),
            rtt_back_off: 0.8,
        }
    }
}

impl Config {
    /// Checks that every parameter is in range.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        check("gcc rates", format_args!("min {}, start {}", self.min, self.start))
            .is(self.min != Rate::ZERO && self.start >= self.min, "0 < min <= start")?;
        check("gcc.pacing_factor", self.pacing_factor).within(1.0..=10.0, "1.1")?;
        check("gcc.aimd.beta", self.aimd.beta).within(between(0.0, 1.0), "0.85")?;
        check("gcc.aimd.growth", self.aimd.growth).within(above_to(1.0, 2.0), "the default")?;
        check("gcc.overuse", format_args!("{:?}", self.overuse)).is(
            self.overuse.initial_threshold > 0.0 && self.overuse.rise >= 0.0 && self.overuse.fall >= 0.0,
            "a threshold above 0 ms, rise and fall not negative",
        )?;
        Ok(())
    }
}
