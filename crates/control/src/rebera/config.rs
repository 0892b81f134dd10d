//! Rebera's parameters.

use thalweg_units::{ConfigError, Rate, Span, above, check};

use crate::estimate::MeasurementConfig;
use crate::estimate::forecast::{self, MarginConfig};
use crate::feedback::End;

/// Rebera's parameters, by the paper's symbols. \[P\] is the paper, \[R\] a reading where it is silent
/// (specs/rebera.md).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The side that measures the path: the receiver, as in the paper, which reports the capacity and the bytes
    /// received and lost.
    pub measured_by: End,
    /// How it is measured.
    pub measurement: MeasurementConfig,
    /// The forecast of the next capacity.
    pub predictor: forecast::Config,
    /// The margin between the forecast and the plan.
    pub margin: MarginConfig,
    /// Which part of the backlog is subtracted from a plan.
    pub backlog: Backlog,
    /// T if no caller reports when groups of frames begin (32 frames at 30 a second \[P\]).
    pub period: Span,
    /// The assumed capacity before the first measurement (120 kbps \[P\]).
    pub start: Rate,
    /// If no feedback arrives for this long while packets are in flight, or for twice Delta and a round trip if that is
    /// longer, sending stops (500 ms \[R\]) ...
    pub stop_after: Span,
    /// ... but after this time, one frame per period is sent to test whether the path is back (3 s \[R\]). If a
    /// receiver has not reported the path for this long although arrivals are reported, the sender measures instead.
    pub retry_after: Span,
}

/// Which part of sent - (received + lost) is subtracted from a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Backlog {
    /// All of it, as in the paper: including bytes on the path or received since the last report.
    All,
    /// The part that exceeds what the path carries in the minimum time from sending to the report: the bytes in queues
    /// (ours).
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
    /// Checks that every parameter is in range.
    ///
    /// # Errors
    /// When a parameter is out of range.
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
