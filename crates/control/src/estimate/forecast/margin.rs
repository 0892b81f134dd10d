//! u: how far a plan stays below a forecast, from past forecast errors (specs/rebera.md 4).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use thalweg_units::{ConfigError, Rate, above_to, between, check};

/// The margin's parameters. \[P\] is the paper, \[R\] a reading where it is silent.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct MarginConfig {
    /// delta: how often the capacity may be below the plan, above 0 and below 1 (0.05 \[P\]).
    pub delta: f64,
    /// Number of errors remembered ("a moving window" \[P\]: 100 \[R\]).
    pub window: usize,
    /// With fewer errors than this they are not used (20 \[R\]) ...
    pub min: usize,
    /// ... and the margin is this share of the forecast, 0..1 (0.15 \[R\]).
    pub before: f64,
    /// The unit of the errors.
    pub errors: Errors,
    /// The errors of this many first forecasts are left out (ours: 10): errors made while the path is still being
    /// discovered do not show how wrong forecasts of a known path are.
    pub first: u32,
    /// The margin is at most this share of the forecast, above 0 and at most 1 (ours: 0.7; 1 for any margin).
    pub max_ratio: f64,
}

/// The unit of forecast errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Errors {
    /// In bit/s, as in the paper.
    Absolute,
    /// As shares of the forecast (ours): otherwise, on a path that has become slow, errors from when it was fast would
    /// leave no rate at all for as long as they are remembered.
    #[default]
    Relative,
}

impl Default for MarginConfig {
    fn default() -> MarginConfig {
        MarginConfig {
            delta: 0.05,
            window: 100,
            min: 20,
            before: 0.15,
            errors: Errors::default(),
            first: 10,
            max_ratio: 0.7,
        }
    }
}

/// Errors of one-step forecasts: sample minus forecast, in the unit of [`Errors`].
#[derive(Debug, Clone)]
pub(crate) struct Margin {
    config: MarginConfig,
    errors: VecDeque<f64>,
    /// Number of forecasts whose error was left out.
    left_out: u32,
}

impl Margin {
    pub(crate) fn new(config: MarginConfig) -> Result<Margin, ConfigError> {
        check("margin.delta", config.delta).within(between(0.0, 1.0), "0.05")?;
        check("margin.before", config.before).is((0.0..1.0).contains(&config.before), "0 to below 1, such as 0.15")?;
        check("margin.max_ratio", config.max_ratio).within(above_to(0.0, 1.0), "0.7")?;
        check("margin.window", config.window)
            .is(config.window != 0 && config.min <= config.window, "1 or more, and not below margin.min")?;
        Ok(Margin { config, errors: VecDeque::new(), left_out: 0 })
    }

    /// Adds the error of `forecast`, which was followed by `sample`.
    pub(crate) fn add(&mut self, sample: Rate, forecast: Rate) {
        if self.left_out < self.config.first {
            self.left_out += 1;
            return;
        }
        let error = sample.as_bps_f64() - forecast.as_bps_f64();
        self.errors.push_back(match self.config.errors {
            Errors::Absolute => error,
            Errors::Relative => error / forecast.as_bps_f64().max(1.0),
        });
        if self.errors.len() > self.config.window {
            self.errors.pop_front();
        }
    }

    /// u in bit/s, to be added to a forecast: negative unless delta exceeds the share of negative errors.
    pub(crate) fn of(&self, forecast: Rate) -> f64 {
        if self.errors.len() < self.config.min.max(1) {
            return -self.config.before * forecast.as_bps_f64();
        }
        let mut sorted: Vec<f64> = self.errors.iter().copied().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        // The nearest rank: ceil(delta n), counted from 1.
        let rank = libm::ceil(self.config.delta * sorted.len() as f64) as usize;
        let error = sorted[rank.clamp(1, sorted.len()) - 1];
        let margin = match self.config.errors {
            Errors::Absolute => error,
            Errors::Relative => error * forecast.as_bps_f64(),
        };
        margin.max(-self.config.max_ratio * forecast.as_bps_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn absolute() -> MarginConfig {
        MarginConfig { errors: Errors::Absolute, first: 0, max_ratio: 1.0, ..MarginConfig::default() }
    }

    fn after(config: MarginConfig, errors_kbps: impl Iterator<Item = i64>) -> Margin {
        let mut margin = Margin::new(MarginConfig { first: 0, ..config }).unwrap();
        let base = 1_000_000;
        errors_kbps.for_each(|error| margin.add(Rate::from_kbps((base + error) as u64), Rate::from_kbps(base as u64)));
        margin
    }

    #[test]
    fn the_margin_is_the_nearest_rank_of_the_last_hundred_errors() {
        let forecast = Rate::from_kbps(400);
        // Of 20 errors the lowest is the 0.05-quantile, of 40 the second lowest, of more than a hundred the fifth
        // lowest of the last hundred.
        assert_eq!(after(absolute(), -10..10).of(forecast), -10_000.0);
        assert_eq!(after(absolute(), -20..20).of(forecast), -19_000.0);
        assert_eq!(after(absolute(), -500..100).of(forecast), 4_000.0);
        let half = MarginConfig { delta: 0.5, ..absolute() };
        assert_eq!(after(half, -10..10).of(forecast), -1_000.0);
    }

    #[test]
    fn before_there_are_twenty_errors_it_is_a_share_of_the_forecast() {
        assert_eq!(after(MarginConfig::default(), -9..10).of(Rate::from_kbps(400)), -60_000.0);
    }

    #[test]
    fn relative_errors_follow_the_forecast_and_leave_something_of_it() {
        let mut margin = Margin::new(MarginConfig::default()).unwrap();
        (0..10).for_each(|_| margin.add(Rate::from_kbps(1), Rate::from_kbps(4000)));
        (0..20).for_each(|_| margin.add(Rate::from_kbps(3000), Rate::from_kbps(4000)));
        assert_eq!(margin.of(Rate::from_kbps(400)), -100_000.0);
        (0..20).for_each(|_| margin.add(Rate::from_kbps(100), Rate::from_kbps(4000)));
        assert_eq!(margin.of(Rate::from_kbps(400)), -280_000.0);
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        for config in [
            MarginConfig { delta: 0.0, ..MarginConfig::default() },
            MarginConfig { delta: 1.0, ..MarginConfig::default() },
            MarginConfig { delta: f64::NAN, ..MarginConfig::default() },
            MarginConfig { max_ratio: 0.0, ..MarginConfig::default() },
            MarginConfig { before: 1.0, ..MarginConfig::default() },
            MarginConfig { window: 0, min: 0, ..MarginConfig::default() },
            MarginConfig { window: 10, ..MarginConfig::default() },
        ] {
            assert!(Margin::new(config).is_err(), "{config:?}");
        }
    }

    proptest! {
        #[test]
        fn a_greater_delta_never_means_a_greater_margin(
            errors in prop::collection::vec(-300i64..300, 20..150), low in 0.01f64..0.99, high in 0.01f64..0.99,
        ) {
            let of = |delta| after(MarginConfig { delta, ..MarginConfig::default() }, errors.iter().copied()).of(Rate::from_kbps(400));
            let (low, high) = (low.min(high), low.max(high));
            prop_assert!(of(low) <= of(high));
        }
    }
}
