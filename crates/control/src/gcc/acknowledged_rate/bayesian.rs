//! The Bayesian bitrate estimator (specs/gcc.md 4.2; libwebrtc `bitrate_estimator.cc`).

use thalweg_units::{Bytes, Rate, Span, Time};

/// The first sample covers this long ...
const FIRST_WINDOW: Span = Span::from_millis(500);
/// ... and each later one this long.
const WINDOW: Span = Span::from_millis(150);

/// Estimate and variance, in kbps.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Bayesian {
    sum: Bytes,
    window_began: Option<Time>,
    last: Option<Time>,
    estimate: Option<f64>,
    variance: f64,
    change_expected: Option<Time>,
}

impl Bayesian {
    pub(super) fn add(&mut self, at: Time, size: Bytes) {
        let window = if self.estimate.is_none() { FIRST_WINDOW } else { WINDOW };
        let began = *self.window_began.get_or_insert(at);
        let elapsed = at - began;
        let mut sample = None;
        if elapsed < Span::ZERO {
            // Time went back: restart the window.
            self.window_began = Some(at);
            self.sum = Bytes::ZERO;
        } else if elapsed >= window {
            let paused = self.last.is_some_and(|last| at - last > window);
            if !paused {
                sample = Some(self.sum.per(window).as_kbps_f64());
            }
            self.sum = Bytes::ZERO;
            // Keep the phase of the windows.
            let windows = elapsed.as_nanos() / window.as_nanos();
            self.window_began = Some(began + window * windows);
        }
        self.last = Some(at);
        self.sum += size;
        if let Some(sample) = sample {
            self.update(sample);
        }
    }

    fn update(&mut self, sample: f64) {
        let Some(estimate) = self.estimate else {
            self.estimate = Some(sample);
            self.variance = 50.0;
            return;
        };
        // The further a sample is from the estimate, the lower its weight.
        let uncertainty = 10.0 * (estimate - sample).abs() / estimate.max(1e-9);
        let sample_variance = uncertainty * uncertainty;
        let predicted = self.variance + 5.0;
        self.estimate = Some((sample_variance * estimate + predicted * sample) / (sample_variance + predicted));
        self.variance = sample_variance * predicted / (sample_variance + predicted);
    }

    /// ALR ended: the rate may change, so the estimate becomes less certain.
    pub(super) fn expect_change(&mut self, at: Time) {
        if self.change_expected != Some(at) {
            self.change_expected = Some(at);
            self.variance += 200.0;
        }
    }

    pub(super) fn rate(&self) -> Option<Rate> {
        self.estimate.map(|kbps| Rate::from_bps_f64(kbps * 1e3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_samples_are_believed_as_little_as_the_worked_example_says() {
        let mut bayesian = Bayesian { estimate: Some(1000.0), variance: 50.0, ..Bayesian::default() };
        bayesian.update(500.0);
        assert!((bayesian.estimate.unwrap() - 656.25).abs() < 1e-9);
        assert!((bayesian.variance - 17.1875).abs() < 1e-9);
        bayesian.update(500.0);
        assert!((bayesian.estimate.unwrap() - 531.80).abs() < 0.01);
        assert!((bayesian.variance - 4.515).abs() < 0.001);
    }

    #[test]
    fn a_steady_stream_is_measured() {
        let mut bayesian = Bayesian::default();
        (0..200).for_each(|i| bayesian.add(Time::from_millis(10 * i), Bytes::new(1250)));
        let kbps = bayesian.rate().unwrap().as_kbps_f64();
        assert!((kbps - 1000.0).abs() < 20.0, "{kbps}");
    }
}
