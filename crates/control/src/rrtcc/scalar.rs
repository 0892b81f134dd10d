//! Estimates only the growth of the queue (draft-ietf-rmcat-gcc-02 section 5.3), without the time per byte.

use super::ScalarConfig;
use super::kalman::Delta;

/// The number of recent frames over which the frame interval is taken.
const RECENT_FRAMES: f64 = 30.0;
/// A residual counts for the noise up to this many standard deviations.
const OUTLIER: f64 = 3.0;

/// The filter.
#[derive(Debug, Clone)]
pub(super) struct Scalar {
    config: ScalarConfig,
    /// m, in ms.
    pub(super) offset: f64,
    error: f64,
    /// The noise variance, ms^2.
    pub(super) noise: f64,
    /// Number of frames seen.
    pub(super) frames: u32,
    /// 1 / f_max: the recent min time between frames, in ms.
    period: f64,
}

impl Scalar {
    pub(super) fn new(config: ScalarConfig) -> Scalar {
        Scalar { config, offset: 0.0, error: config.error, noise: config.noise_floor, frames: 0, period: f64::MAX }
    }

    pub(super) fn update(&mut self, delta: &Delta) {
        self.frames = self.frames.saturating_add(1);
        // The min decays slowly, so that a source that slows down is followed.
        let forgotten = self.period + (delta.sent - self.period) / RECENT_FRAMES;
        self.period = delta.sent.min(forgotten).max(1e-3);
        let kept = libm::pow(1.0 - self.config.gain, RECENT_FRAMES / 1000.0 * self.period);
        let residual = delta.delay - self.offset;
        let max = OUTLIER * libm::sqrt(self.noise);
        let counted = residual.clamp(-max, max);
        self.noise = (kept * self.noise + (1.0 - kept) * counted * counted).max(self.config.noise_floor);
        let error = self.error + self.config.process;
        let gain = error / (self.noise + error);
        self.offset += gain * residual;
        self.error = (1.0 - gain) * error;
        if !self.offset.is_finite() {
            *self = Scalar::new(self.config);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_milliseconds_a_frame_give_the_worked_trend() {
        // specs/rrtcc.md 8, example 4.
        let mut scalar = Scalar::new(ScalarConfig::default());
        for offset in [0.42789, 0.76718, 1.04246] {
            scalar.update(&Delta { delay: 5.0, sent: 33.0, size: 0.0 });
            assert!((scalar.offset - offset).abs() < 5e-5, "{} instead of {offset}", scalar.offset);
        }
        assert_eq!(scalar.frames, 3);
    }
}
