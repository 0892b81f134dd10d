//! Subjective quality as a function of delay and quality: the models of Salsify's user study (specs/metrics.md 9).

/// Rating of a video call, 1..5, from the mean latency in ms and SSIM in dB. The printed coefficient of delay is a
/// misprint by a factor of 100: with it, 100 ms would be worth 0.01 dB, but the text says 1.0.
pub fn qoe_call(latency_ms: f64, ssim_db: f64) -> f64 {
    (-6.39e-4 * latency_ms + 6.22e-2 * ssim_db + 3.30).clamp(1.0, 5.0)
}

/// Rating of driving a car by video, 1..5.
pub fn qoe_driving(latency_ms: f64, ssim_db: f64) -> f64 {
    (-1.92e-3 * latency_ms + 0.101 * ssim_db + 2.67).clamp(1.0, 5.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_numbers_come_out() {
        assert!((qoe_call(449.0, 15.4) - 3.971).abs() < 1e-3);
        assert!((qoe_driving(449.0, 15.4) - 3.363).abs() < 1e-3);
    }
}
