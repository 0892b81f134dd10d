//! The loss-based rate.

mod v1;
mod v2;

use thalweg_units::{ConfigError, Rate, Span, Time, check};

use crate::feedback::Report;
use v1::LossV1;
pub use v1::V1Config;
use v2::LossV2;
pub use v2::V2Config;

/// The loss-based controller.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Config {
    /// The rate with the highest likelihood for the observed losses (specs/gcc.md 6.2), the default since December 2022.
    V2(V2Config),
    /// Thresholds of 2 and 10 % (specs/gcc.md 6.1), the default before.
    V1(V1Config),
}

impl Default for Config {
    fn default() -> Config {
        Config::V2(V2Config::default())
    }
}

impl Config {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        match self {
            Config::V1(v1) => check("gcc.loss.v1.interval", v1.interval).is(v1.interval >= Span::ZERO, "not negative"),
            Config::V2(v2) => check("gcc.loss.v2", format_args!("{v2:?}")).is(
                v2.window >= 1 && v2.min_observations >= 1 && v2.balance > 0.0 && (0.0..1.0).contains(&v2.turn),
                "window and min_observations at least 1, balance above 0, turn within 0..1",
            ),
        }
    }
}

/// Input of a loss-based controller, with each report.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) now: Time,
    /// Packets by sending time.
    pub(super) reports: &'a [Report],
    /// [`Rate::MAX`] if delay is not known.
    pub(super) delay_based: Rate,
    pub(super) acknowledged: Option<Rate>,
    pub(super) in_alr: bool,
    pub(super) min: Rate,
    pub(super) max: Rate,
    pub(super) rtt: Span,
}

/// State of the loss-based estimate: limiting the rate or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LossState {
    /// Delay determines the rate.
    DelayBased,
    /// Loss limits, and the rate grows.
    Increasing,
    /// Loss limits, and the rate grows, with padding to probe the higher rate.
    IncreaseUsingPadding,
    /// Loss limits, and the rate does not grow.
    Decreasing,
}

/// Either controller.
#[derive(Debug, Clone)]
pub(super) enum LossBased {
    V1(LossV1),
    V2(LossV2),
}

impl LossBased {
    pub(super) fn new(config: Config, start: Rate) -> LossBased {
        match config {
            Config::V1(v1) => LossBased::V1(LossV1::new(v1, start)),
            Config::V2(v2) => LossBased::V2(LossV2::new(v2, start)),
        }
    }

    /// Updates the controller; returns the rate it allows.
    pub(super) fn update(&mut self, input: &Input<'_>) -> (Rate, LossState) {
        match self {
            LossBased::V1(v1) => v1.update(input),
            LossBased::V2(v2) => v2.update(input),
        }
    }

    /// A probe measured this rate. V2 treats it like any other delay-based rate: libwebrtc has a method to set its
    /// estimate (`LossBasedBweV2::SetBandwidthEstimate`), but no longer calls it.
    pub(super) fn on_probe(&mut self, rate: Rate) {
        match self {
            LossBased::V1(v1) => v1.set_rate(rate),
            LossBased::V2(_) => {}
        }
    }
}
