//! Recursive least squares: a linear filter over the last samples, refitted with each new sample (specs/rebera.md 4).

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use thalweg_units::{ConfigError, Rate, above, above_to, between, check};

use super::Predictor;

/// The filter's parameters. \[P\] is Rebera's paper, \[R\] a reading where it is silent.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct RlsConfig {
    /// M: the number of samples in the filter, 1..=32 (5 \[P\]).
    pub taps: u8,
    /// lambda: the weight that a fit keeps one sample later, above 0 and at most 1 (0.999 \[P\]).
    pub forgetting: f64,
    /// theta: the inverse of the filter's initial uncertainty, above 0 (0.001 \[P\]).
    pub regularisation: f64,
    /// The unit of theta: samples are divided by this (1 Mbps \[R\]; the result depends on it).
    pub unit: Rate,
    /// Until there are as many samples as taps, the last sample is the forecast (\[R\]): the first few fits swing
    /// wildly.
    pub waits_for_samples: bool,
    /// A forecast is at most this many times the max of the last M samples, and never below 0 (specs/rebera.md has 2
    /// \[R\]; ours: 1.25, with which the filter is within 4 % of the best average on each of eight recorded links
    /// instead of 12); `None` for the unlimited filter output, with negative values counted as 0.
    #[cfg_attr(feature = "serde", serde(default))]
    pub max_ratio: Option<f64>,
    /// A forecast is at least this share of the min of the last M samples, 0..=1 (ours: 0.5): after a rise, the filter
    /// expects a further rise, and would take its end for a fall to zero. 0 for the unlimited filter output.
    pub min_ratio: f64,
}

impl Default for RlsConfig {
    fn default() -> RlsConfig {
        RlsConfig {
            taps: 5,
            forgetting: 0.999,
            regularisation: 0.001,
            unit: Rate::from_kbps(1000),
            waits_for_samples: true,
            max_ratio: Some(1.25),
            min_ratio: 0.5,
        }
    }
}

/// Above this uncertainty the filter is reset: with lambda below 1, the uncertainty grows without bound in directions
/// that the samples never take (specs/rebera.md 4 \[R\]).
const MAX_UNSURE: f64 = 1e9;

impl RlsConfig {
    /// The filter as published: no waiting, no bound.
    pub const PAPER: RlsConfig = RlsConfig {
        taps: 5,
        forgetting: 0.999,
        regularisation: 0.001,
        unit: Rate::from_kbps(1000),
        waits_for_samples: false,
        max_ratio: None,
        min_ratio: 0.0,
    };
}

/// The filter. Vectors have one entry per tap, the newest sample first; samples before the first are 0.
#[derive(Debug, Clone)]
pub struct Rls {
    config: RlsConfig,
    /// w.
    weights: Vec<f64>,
    /// P, row by row: the inverse of the samples' correlation.
    unsure: Vec<f64>,
    /// x.
    samples: VecDeque<f64>,
    seen: u32,
}

impl Rls {
    /// The filter before its first sample.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: RlsConfig) -> Result<Rls, ConfigError> {
        check("forecast.taps", config.taps).within(1..=32, "5")?;
        check("forecast.forgetting", config.forgetting).within(above_to(0.0, 1.0), "0.999")?;
        check("forecast.regularisation", config.regularisation).within(between(0.0, f64::INFINITY), "0.001")?;
        check("forecast.unit", config.unit).within(above(Rate::ZERO), "1Mbps")?;
        if let Some(max) = config.max_ratio {
            check("forecast.max_ratio", max).within(1.0.., "2")?;
        }
        check("forecast.min_ratio", config.min_ratio).within(0.0..=1.0, "0.5")?;
        let taps = usize::from(config.taps);
        let mut rls = Rls {
            config,
            weights: vec![0.0; taps],
            unsure: Vec::new(),
            samples: VecDeque::from(vec![0.0; taps]),
            seen: 0,
        };
        rls.begin();
        Ok(rls)
    }

    fn begin(&mut self) {
        let taps = self.weights.len();
        self.unsure = vec![0.0; taps * taps];
        (0..taps).for_each(|tap| self.unsure[tap * taps + tap] = 1.0 / self.config.regularisation);
    }

    /// w, with the newest sample's weight first.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The filter output for the current samples, in units; valid for the first M samples too.
    fn filtered(&self) -> f64 {
        self.weights.iter().zip(&self.samples).map(|(weight, sample)| weight * sample).sum()
    }

    /// Fits the filter to a sample that follows the current ones.
    fn fit(&mut self, sample: f64) {
        let taps = self.weights.len();
        let error = sample - self.filtered();
        // P x; P is symmetric, so this is x^T P as well.
        let row = |tap: usize| &self.unsure[tap * taps..(tap + 1) * taps];
        let product: Vec<f64> =
            (0..taps).map(|tap| row(tap).iter().zip(&self.samples).map(|(p, x)| p * x).sum()).collect();
        let power: f64 = product.iter().zip(&self.samples).map(|(p, x)| p * x).sum();
        let gain: Vec<f64> = product.iter().map(|p| p / (self.config.forgetting + power)).collect();
        for (weight, gain) in self.weights.iter_mut().zip(&gain) {
            *weight += gain * error;
        }
        for i in 0..taps {
            for j in i..taps {
                let both = (self.unsure[i * taps + j] - gain[i] * product[j])
                    + (self.unsure[j * taps + i] - gain[j] * product[i]);
                let mean = both / 2.0 / self.config.forgetting;
                (self.unsure[i * taps + j], self.unsure[j * taps + i]) = (mean, mean);
            }
        }
        let trace: f64 = (0..taps).map(|tap| self.unsure[tap * taps + tap]).sum();
        if trace.is_nan() || trace > MAX_UNSURE {
            self.begin();
        }
        if self.weights.iter().any(|weight| !weight.is_finite()) {
            self.weights.fill(0.0);
            self.begin();
        }
    }
}

impl Predictor for Rls {
    fn observe(&mut self, sample: Rate) {
        let sample = sample.as_bps_f64() / self.config.unit.as_bps_f64();
        self.fit(sample);
        self.samples.pop_back();
        self.samples.push_front(sample);
        self.seen = self.seen.saturating_add(1);
    }

    fn forecast(&self) -> Option<Rate> {
        let newest = self.samples.front().filter(|_| self.seen > 0)?;
        let greatest = self.samples.iter().fold(0.0, |greatest: f64, sample| greatest.max(*sample));
        let min = self.samples.iter().fold(greatest, |min, sample| min.min(*sample));
        let max = self.config.max_ratio.map_or(f64::INFINITY, |max| max * greatest);
        let few = self.config.waits_for_samples && (self.seen as usize) < self.samples.len();
        let forecast = if few { *newest } else { self.filtered().max(self.config.min_ratio * min).min(max) };
        Some(Rate::from_bps_f64(forecast * self.config.unit.as_bps_f64()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{MovingAverage, rms};
    use super::*;
    use proptest::prelude::*;

    fn forecasts(config: RlsConfig, kbps: &[u64]) -> Vec<u64> {
        let mut rls = Rls::new(config).unwrap();
        let after = |kbps: &u64| {
            rls.observe(Rate::from_kbps(*kbps));
            rls.forecast().unwrap().as_bps()
        };
        kbps.iter().map(after).collect()
    }

    #[test]
    fn two_taps_give_the_numbers_of_the_specification() {
        // specs/rebera.md 9, example 3.
        let config = RlsConfig { taps: 2, ..RlsConfig::PAPER };
        assert_eq!(forecasts(config, &[400, 500, 450, 600])[1..], [621_126, 346_989, 679_312]);
        let mut rls = Rls::new(config).unwrap();
        let weights = [400, 500, 450, 600].map(|kbps| {
            rls.observe(Rate::from_kbps(kbps));
            (rls.weights()[0], rls.weights()[1])
        });
        let expected = [(0.0, 0.0), (1.242251, 0.0), (1.238988, -0.421111), (1.141397, -0.012281)];
        for (weights, expected) in weights.iter().zip(expected) {
            assert!((weights.0 - expected.0).abs() < 1e-6 && (weights.1 - expected.1).abs() < 1e-6, "{weights:?}");
        }
    }

    #[test]
    fn five_taps_give_the_numbers_of_the_specification_and_wait_for_five_samples_unless_told_not_to() {
        let kbps = [400, 420, 380, 450, 500, 480, 470, 520];
        let printed = [0, 438_266, 335_780, 533_564, 529_508, 472_987, 477_063, 527_854];
        for (forecast, printed) in forecasts(RlsConfig::PAPER, &kbps).into_iter().zip(printed) {
            assert!(forecast.abs_diff(printed) <= 1, "{forecast} instead of {printed}");
        }
        let waits = forecasts(RlsConfig::default(), &kbps);
        assert_eq!(waits[..4], [400_000, 420_000, 380_000, 450_000]);
        assert_eq!(waits[7], 527_854);
    }

    #[test]
    fn a_line_that_swings_is_learnt_and_an_average_never_does() {
        let series: Vec<Rate> = (0..200).map(|i| Rate::from_kbps(if i % 2 == 0 { 300 } else { 500 })).collect();
        let mut rls = Rls::new(RlsConfig::default()).unwrap();
        assert!(rms(&mut rls, &series, 50).unwrap() < Rate::from_kbps(5));
        let mut average = MovingAverage::new(0.5).unwrap();
        assert!(rms(&mut average, &series, 50).unwrap() > Rate::from_kbps(100));
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        for config in [
            RlsConfig { taps: 0, ..RlsConfig::default() },
            RlsConfig { taps: 33, ..RlsConfig::default() },
            RlsConfig { forgetting: 0.0, ..RlsConfig::default() },
            RlsConfig { forgetting: f64::NAN, ..RlsConfig::default() },
            RlsConfig { regularisation: 0.0, ..RlsConfig::default() },
            RlsConfig { unit: Rate::ZERO, ..RlsConfig::default() },
            RlsConfig { max_ratio: Some(0.5), ..RlsConfig::default() },
            RlsConfig { min_ratio: 1.5, ..RlsConfig::default() },
        ] {
            assert!(Rls::new(config).is_err(), "{config:?}");
        }
    }

    proptest! {
        #[test]
        fn a_forecast_stays_within_its_bound_whatever_the_samples(
            kbps in prop::collection::vec(prop_oneof![Just(0u64), 1u64..2_000, Just(10_000_000)], 1..300),
        ) {
            let mut rls = Rls::new(RlsConfig::default()).unwrap();
            for (index, sample) in kbps.iter().enumerate() {
                rls.observe(Rate::from_kbps(*sample));
                let last = &kbps[index.saturating_sub(4)..=index];
                let max = Rate::from_kbps(5 * last.iter().max().unwrap() / 4 + 1);
                let min = Rate::from_kbps(if index < 4 { 0 } else { last.iter().min().unwrap() / 2 });
                prop_assert!((min..=max).contains(&rls.forecast().unwrap()));
            }
        }

        /// Whatever the samples before, a constant path is forecast to stay constant, within a twentieth of the largest
        /// sample: large samples have more weight in the fit than small ones.
        #[test]
        fn a_constant_path_is_forecast_to_stay_so(before in prop::collection::vec(100u64..2_000, 0..30), kbps in 100u64..2_000) {
            let mut rls = Rls::new(RlsConfig::default()).unwrap();
            before.iter().for_each(|kbps| rls.observe(Rate::from_kbps(*kbps)));
            (0..400).for_each(|_| rls.observe(Rate::from_kbps(kbps)));
            let forecast = rls.forecast().unwrap().as_kbps_f64();
            let greatest = before.iter().copied().max().unwrap_or(kbps).max(kbps) as f64;
            prop_assert!((forecast - kbps as f64).abs() < 0.05 * greatest, "{} for {}", forecast, kbps);
        }
    }
}
