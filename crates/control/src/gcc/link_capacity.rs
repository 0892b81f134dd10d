//! The estimated link capacity, learned at each decrease (specs/gcc.md 5; libwebrtc `link_capacity_estimator.cc`).

use thalweg_units::Rate;

/// Weight of a new sample.
const GAIN: f64 = 0.05;
/// Bounds of the normalised variance.
const VARIANCE_BOUNDS: (f64, f64) = (0.4, 2.5);

/// Mean, in kbps, and normalised variance.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinkCapacity {
    mean: Option<f64>,
    variance: f64,
}

impl Default for LinkCapacity {
    fn default() -> LinkCapacity {
        LinkCapacity { mean: None, variance: 0.4 }
    }
}

impl LinkCapacity {
    /// Takes the acknowledged rate during an overuse.
    pub(super) fn on_overuse(&mut self, acknowledged: Rate) {
        let sample = acknowledged.as_kbps_f64();
        let mean = self.mean.map_or(sample, |mean| (1.0 - GAIN) * mean + GAIN * sample);
        let error = mean - sample;
        let variance = (1.0 - GAIN) * self.variance + GAIN * error * error / mean.max(1.0);
        self.mean = Some(mean);
        self.variance = variance.clamp(VARIANCE_BOUNDS.0, VARIANCE_BOUNDS.1);
    }

    pub(super) fn reset(&mut self) {
        self.mean = None;
    }

    pub(super) fn mean(&self) -> Option<Rate> {
        self.mean.map(|kbps| Rate::from_bps_f64(kbps * 1e3))
    }

    fn deviation(&self, mean: f64) -> f64 {
        libm::sqrt(self.variance * mean)
    }

    /// Three standard deviations above the mean.
    pub(super) fn upper(&self) -> Option<Rate> {
        self.mean.map(|mean| Rate::from_bps_f64((mean + 3.0 * self.deviation(mean)) * 1e3))
    }

    /// Three standard deviations below the mean.
    pub(super) fn lower(&self) -> Option<Rate> {
        self.mean.map(|mean| Rate::from_bps_f64((mean - 3.0 * self.deviation(mean)) * 1e3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_of_the_worked_example_come_out() {
        let mut capacity = LinkCapacity::default();
        capacity.on_overuse(Rate::from_kbps(1000));
        assert_eq!(capacity.mean(), Some(Rate::from_kbps(1000)));
        assert_eq!((capacity.lower(), capacity.upper()), (Some(Rate::from_kbps(940)), Some(Rate::from_kbps(1060))));
        capacity.on_overuse(Rate::from_kbps(900));
        assert!((capacity.mean().unwrap().as_kbps_f64() - 995.0).abs() < 1e-6);
        assert!((capacity.variance - 0.8335).abs() < 1e-3, "{}", capacity.variance);
        assert!((capacity.lower().unwrap().as_kbps_f64() - 908.6).abs() < 0.1);
        assert!((capacity.upper().unwrap().as_kbps_f64() - 1081.4).abs() < 0.1);
    }
}
