//! The loss-based rate.

mod v1;
mod v2;

use thalweg_units::{Rate, Span, Time};

use crate::feedback::Report;
use v1::LossV1;
use v2::LossV2;

/// Which loss-based controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Config {
    /// Today's default: the rate that explains the losses best (specs/gcc.md 6.2).
    #[default]
    V2,
    /// Thresholds of 2 and 10 % (specs/gcc.md 6.1), as before 2021.
    V1,
}

/// What a loss-based controller gets with each report.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) now: Time,
    /// Packets by sending time.
    pub(super) reports: &'a [Report],
    pub(super) delay_based: Rate,
    pub(super) acknowledged: Option<Rate>,
    pub(super) in_alr: bool,
    pub(super) min: Rate,
    pub(super) max: Rate,
    pub(super) rtt: Span,
}

/// Whether loss limits the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LossState {
    /// Delay decides.
    DelayBased,
    /// Loss limits, and the rate grows, with padding to prove it.
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
            Config::V1 => LossBased::V1(LossV1::new(start)),
            Config::V2 => LossBased::V2(LossV2::new(start)),
        }
    }

    /// The rate it allows.
    pub(super) fn update(&mut self, input: &Input<'_>) -> (Rate, LossState) {
        match self {
            LossBased::V1(v1) => v1.update(input),
            LossBased::V2(v2) => v2.update(input),
        }
    }

    /// A probe measured this rate. V2 learns of it only as of any other delay-based rate: libwebrtc has a method for setting its
    /// estimate (`LossBasedBweV2::SetBandwidthEstimate`), and no longer calls it.
    pub(super) fn on_probe(&mut self, rate: Rate) {
        match self {
            LossBased::V1(v1) => v1.set_rate(rate),
            LossBased::V2(_) => {}
        }
    }
}
