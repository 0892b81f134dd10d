//! Rebera's parameters.

use thalweg_units::{ConfigError, Rate, Span, above, check};

use crate::estimate::MeasurementConfig;
use crate::estimate::forecast::{self, MarginConfig};
use crate::feedback::End;

/// Rebera's parameters, by the paper's symbols. \[P\] is the paper, \[R\] a reading where it is silent (specs/rebera.md).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// Which end measures the path: the receiver, as in the paper, tells the capacity and the bytes that came and that were lost.
    pub measured_by: End,
    /// How it is measured.
    pub measurement: MeasurementConfig,
    /// What comes next.
    pub predictor: forecast::Config,
    /// How far below that the plan stays.
    pub margin: MarginConfig,
    /// What of the backlog is taken off a plan.
    pub backlog: Backlog,
    /// T where nobody says when a group of frames begins (32 frames at 30 a second \[P\]).
    pub period: Span,
    /// What the path bears before anything was measured (120 kbps \[P\]).
    pub start: Rate,
    /// With no feedback for so long while something is under way, or for twice Delta and a round trip if that is longer, nothing is
    /// sent (500 ms \[R\]) ...
    pub stop_after: Span,
    /// ... but after so long one frame a period is, to see whether the path is back (3 s \[R\]). A receiver that has not reported the path for
    /// so long, while arrivals are reported, is not waited for: the sender measures.
    pub retry_after: Span,
}

/// What of sent - (received + lost) is taken off a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Backlog {
    /// All of it, as the paper has it: also what is on its way or arrived since the last report.
    All,
    /// What is left of it when what the path carries in the least time from sending to the report is taken off: what waits (ours).
    #[default]
    Waiting,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            measured_by: End::default(),
            measurement: MeasurementConfig::default(),
            predictor: forecast::Config::default(),
            margin: MarginConfig::default(),
            backlog: Backlog::default(),
            period: Span::from_nanos(1_066_666_667),
            start: Rate::from_kbps(120),
            stop_after: Span::from_millis(500),
            retry_after: Span::from_secs(3),
        }
    }
}

impl Config {
    /// That every parameter is in range.
    ///
    /// # Errors
    /// When one is not.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check("rebera.period", self.period).within(above(Span::ZERO), "1.067s")?;
        check("rebera.start", self.start).within(above(Rate::ZERO), "120kbps")?;
        check("rebera.stop_after and retry_after", format_args!("{} and {}", self.stop_after, self.retry_after)).is(
            self.stop_after > Span::ZERO && self.retry_after >= self.stop_after,
            "longer than 0, and retry_after no shorter than stop_after, such as 500ms and 3s",
        )?;
        Ok(())
    }
}
