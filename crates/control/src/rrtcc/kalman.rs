//! Estimates the time per byte and the growth of the queue from the spacing of frames (specs/rrtcc.md 3;
//! `overuse_detector.cc` of 2012).

use alloc::collections::VecDeque;

use super::KalmanConfig;
use super::detector::Usage;

/// The min time between frames is taken over this many frames.
const PERIODS: usize = 60;
/// The count of frames stops here.
const MAX_FRAMES: u32 = 1000;
/// Q is specified for frames of this many ms.
const PERIOD_OF_Q: f64 = 1000.0 / 30.0;
/// Gains of the noise estimate: for the first frames, and after them.
const NOISE_GAINS: (f64, f64) = (0.01, 0.002);
/// Number of the first frames (ten seconds).
const FIRST_FRAMES: u32 = 300;
/// A residual counts for the noise up to this many standard deviations.
const OUTLIER: f64 = 3.0;
/// Factor by which the trend may change faster while it leaves overuse or underuse.
const LEAVING: f64 = 10.0;

/// A frame relative to the one before it, in milliseconds and bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Delta {
    /// Time between arrivals minus time between timestamps: d.
    pub(super) delay: f64,
    /// Time between timestamps: dT.
    pub(super) sent: f64,
    /// Difference in size: dL.
    pub(super) size: f64,
}

/// The filter.
#[derive(Debug, Clone)]
pub(super) struct Kalman {
    config: KalmanConfig,
    /// Max number of frames by which the trend is multiplied.
    weighing: u32,
    slope: f64,
    /// m: by how many ms the delay of each frame exceeds that of the one before.
    pub(super) offset: f64,
    offset_before: f64,
    error: [[f64; 2]; 2],
    noise_mean: f64,
    /// The noise variance, ms^2.
    pub(super) noise: f64,
    /// Number of frames seen, up to [`MAX_FRAMES`].
    pub(super) frames: u32,
    periods: VecDeque<f64>,
}

impl Kalman {
    pub(super) fn new(config: KalmanConfig, weighing: u32) -> Kalman {
        Kalman {
            config,
            weighing,
            slope: config.slope,
            offset: 0.0,
            offset_before: 0.0,
            error: [[config.error.0, 0.0], [0.0, config.error.1]],
            noise_mean: 0.0,
            noise: config.noise,
            frames: 0,
            periods: VecDeque::new(),
        }
    }

    /// Takes a frame. `usage` is the detector's result for the frame before, `threshold` the value that it compares
    /// with.
    pub(super) fn update(&mut self, delta: &Delta, usage: Usage, threshold: f64) {
        self.frames = (self.frames + 1).min(MAX_FRAMES);
        let period = self.shortest_period(delta.sent);
        let scale = period / PERIOD_OF_Q;
        let (slope_noise, offset_noise) = self.config.process;
        self.error[0][0] += slope_noise * scale;
        self.error[1][1] += offset_noise * scale;
        let leaving = usage == Usage::Over && self.offset < self.offset_before
            || usage == Usage::Under && self.offset > self.offset_before;
        if leaving {
            self.error[1][1] += LEAVING * offset_noise * scale;
        }
        let residual = delta.delay - self.slope * delta.size - self.offset;
        if self.weighed().abs() < threshold {
            self.learn_noise(residual, period);
        }
        self.correct(delta.size, residual);
        if !(self.offset.is_finite() && self.slope.is_finite() && self.error.iter().flatten().all(|e| e.is_finite())) {
            *self = Kalman::new(self.config, self.weighing);
        }
    }

    fn shortest_period(&mut self, sent: f64) -> f64 {
        let shortest = self.periods.iter().fold(sent, |min, period| min.min(*period));
        self.periods.push_back(sent);
        if self.periods.len() > PERIODS {
            self.periods.pop_front();
        }
        shortest
    }

    /// Residuals beyond three standard deviations count as three, with their sign (the 2012 code loses the sign;
    /// today's file keeps it).
    fn learn_noise(&mut self, residual: f64, period: f64) {
        let max = OUTLIER * libm::sqrt(self.noise);
        let residual = residual.clamp(-max, max);
        let gain = if self.frames <= FIRST_FRAMES { NOISE_GAINS.0 } else { NOISE_GAINS.1 };
        // Gains are specified for 30 frames a second.
        let kept = libm::pow(1.0 - gain, period * 30.0 / 1000.0);
        self.noise_mean = kept * self.noise_mean + (1.0 - kept) * residual;
        let off = self.noise_mean - residual;
        self.noise = (kept * self.noise + (1.0 - kept) * off * off).max(self.config.noise_floor);
    }

    fn correct(&mut self, size: f64, residual: f64) {
        let [[a, b], [c, d]] = self.error;
        let (slope_error, offset_error) = (a * size + b, c * size + d);
        let all = self.noise + size * slope_error + offset_error;
        let (slope_gain, offset_gain) = (slope_error / all, offset_error / all);
        self.error = [
            [a - slope_gain * (size * a + c), b - slope_gain * (size * b + d)],
            [c - offset_gain * (size * a + c), d - offset_gain * (size * b + d)],
        ];
        self.slope += slope_gain * residual;
        self.offset_before = self.offset;
        self.offset += offset_gain * residual;
    }

    fn weighed(&self) -> f64 {
        f64::from(self.frames.min(self.weighing)) * self.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(count: u32) -> Kalman {
        let mut kalman = Kalman::new(KalmanConfig::default(), 60);
        let delta = Delta { delay: 38.0 - 100.0 / 3.0, sent: 100.0 / 3.0, size: 0.0 };
        (0..count).for_each(|_| kalman.update(&delta, Usage::Normal, 25.0));
        kalman
    }

    #[test]
    fn a_frame_that_takes_longer_each_time_gives_the_worked_offsets() {
        // specs/rrtcc.md 8, example 1.
        for (count, offset) in [(1, 0.01030), (2, 0.02156), (10, 0.14575), (20, 0.38342), (32, 0.77424)] {
            let kalman = filtered(count);
            assert!((kalman.offset - offset).abs() < 6e-6, "{count}: {}", kalman.offset);
        }
        assert!((filtered(1).noise - 49.7134).abs() < 5e-5);
        assert!((filtered(32).weighed() - 24.776).abs() < 5e-4);
        assert!((filtered(33).weighed() - 26.758).abs() < 5e-4);
        // The noise estimate is frozen while the trend is above the threshold.
        assert!((filtered(34).noise - 39.9869).abs() < 5e-5 && filtered(36).noise == filtered(34).noise);
    }

    #[test]
    fn a_key_frames_delay_is_the_slopes_and_not_a_trend() {
        let mut kalman = Kalman::new(KalmanConfig::default(), 60);
        // A path of 1 Mbps: 8 us per byte; every thirtieth frame is ten times as large.
        let mut before = 2000.0;
        for number in 0..600 {
            let size = if number % 30 == 29 { 20_000.0 } else { 2000.0 };
            let change = size - before;
            before = size;
            kalman.update(&Delta { delay: change * 0.008, sent: 33.3, size: change }, Usage::Normal, 25.0);
        }
        assert!((kalman.slope - 0.008).abs() < 2e-4, "{}", kalman.slope);
        assert!(kalman.weighed().abs() < 12.5, "{}", kalman.weighed());
    }

    #[test]
    fn what_is_no_number_begins_anew() {
        let mut kalman = filtered(20);
        kalman.update(&Delta { delay: f64::INFINITY, sent: 33.3, size: 0.0 }, Usage::Normal, 25.0);
        assert_eq!((kalman.offset, kalman.frames), (0.0, 0));
    }
}
