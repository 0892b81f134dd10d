//! The max known rate: the rate that arrived at the last overuse (specs/rrtcc.md 5).

use thalweg_units::Rate;

/// The weight of a new rate.
const GAIN: f64 = 0.05;
/// Min and max of the normalised variance, which starts at the min.
const VARIANCES: (f64, f64) = (0.4, 2.5);

/// m in kbps, and its variance divided by m.
#[derive(Debug, Clone, Copy)]
pub(super) struct Max {
    mean: Option<f64>,
    variance: f64,
}

impl Max {
    pub(super) fn unknown() -> Max {
        Max { mean: None, variance: VARIANCES.0 }
    }

    /// m.
    pub(super) fn get(&self) -> Option<Rate> {
        self.mean.map(|kbps| Rate::from_bps_f64(kbps * 1e3))
    }

    /// Sets the max known rate, whatever was known.
    pub(super) fn set(&mut self, rate: Rate) {
        self.mean = Some(rate.as_kbps_f64());
    }

    pub(super) fn forget(&mut self) {
        self.mean = None;
    }

    /// How many standard deviations a rate is above it (below it: negative); `None` if nothing is known.
    pub(super) fn deviations(&self, rate: Rate) -> Option<f64> {
        self.mean.map(|mean| (rate.as_kbps_f64() - mean) / libm::sqrt(self.variance * mean.max(1e-3)))
    }

    /// Takes the rate that arrived during overuse.
    pub(super) fn learn(&mut self, rate: Rate) {
        let kbps = rate.as_kbps_f64();
        let mean = self.mean.map_or(kbps, |mean| mean + GAIN * (kbps - mean));
        let off = mean - kbps;
        let variance = (1.0 - GAIN) * self.variance + GAIN * off * off / mean.max(1.0);
        self.variance = variance.clamp(VARIANCES.0, VARIANCES.1);
        self.mean = Some(mean);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rate_in_twenty_counts_and_the_variance_keeps_within_its_bounds() {
        let mut greatest = Max::unknown();
        assert_eq!((greatest.get(), greatest.deviations(Rate::from_kbps(100))), (None, None));
        greatest.learn(Rate::from_kbps(1000));
        assert_eq!((greatest.get(), greatest.variance), (Some(Rate::from_kbps(1000)), 0.4));
        // sqrt(0.4 x 1000) = 20 kbps.
        assert!((greatest.deviations(Rate::from_kbps(1060)).unwrap() - 3.0).abs() < 1e-9);
        greatest.learn(Rate::from_kbps(900));
        assert_eq!(greatest.get(), Some(Rate::from_kbps(995)));
        // 0.95 x 0.4 + 0.05 x 95^2 / 995.
        assert!((greatest.variance - 0.83352).abs() < 1e-4, "{}", greatest.variance);
        greatest.learn(Rate::from_kbps(100));
        assert_eq!(greatest.variance, 2.5);
    }
}
