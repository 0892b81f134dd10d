//! A straight line that a Kalman filter follows (libwebrtc `timestamp_extrapolator.cc` and
//! `frame_delay_variation_kalman_filter.cc` each have one): slope and offset, and how uncertain they are.

/// The line `weights[0] * x + weights[1]`.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) weights: [f64; 2],
    pub(super) covariance: [[f64; 2]; 2],
}

impl Line {
    /// With variances of slope and offset that are independent.
    pub(super) fn new(weights: [f64; 2], variances: [f64; 2]) -> Line {
        Line { weights, covariance: [[variances[0], 0.0], [0.0, variances[1]]] }
    }

    pub(super) fn at(&self, x: f64) -> f64 {
        self.weights[0] * x + self.weights[1]
    }

    /// A measurement at `x` with a variance of `noise` was `residual` above the line.
    pub(super) fn correct(&mut self, x: f64, residual: f64, noise: f64) {
        let [[p00, p01], [p10, p11]] = self.covariance;
        let projected = [p00 * x + p01, p10 * x + p11];
        let scale = x * projected[0] + projected[1] + noise;
        let gain = projected.map(|value| value / scale);
        let row = [x * p00 + p10, x * p01 + p11];
        self.weights = [self.weights[0] + gain[0] * residual, self.weights[1] + gain[1] * residual];
        self.covariance =
            [[p00 - gain[0] * row[0], p01 - gain[0] * row[1]], [p10 - gain[1] * row[0], p11 - gain[1] * row[1]]];
    }
}
