//! Overuse detection from the delay trend (specs/rrtcc.md 4).

use super::DetectorConfig;

/// Utilisation of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Usage {
    /// Normal use.
    #[default]
    Normal,
    /// Underuse: a queue empties.
    Under,
    /// Overuse: a queue grows.
    Over,
}

/// The detector.
#[derive(Debug, Clone)]
pub(super) struct Detector {
    config: DetectorConfig,
    usage: Usage,
    /// For how many ms the trend has been above the threshold; `None` while it is not.
    over_time: Option<f64>,
    count: u32,
    offset_before: f64,
}

impl Detector {
    pub(super) fn new(config: DetectorConfig) -> Detector {
        Detector { config, usage: Usage::Normal, over_time: None, count: 0, offset_before: 0.0 }
    }

    /// theta, in ms.
    pub(super) fn threshold(&self, near_max: bool) -> f64 {
        self.config.threshold * if near_max { self.config.threshold_share_near } else { 1.0 }
    }

    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    /// Evaluates the trend `offset` after `frames` frames, the last of them `sent` ms after the one before; returns
    /// whether overuse has just begun.
    pub(super) fn judge(&mut self, offset: f64, frames: u32, sent: f64, threshold: f64) -> bool {
        let before = self.usage;
        let offset_before = core::mem::replace(&mut self.offset_before, offset);
        let weighed = f64::from(frames.min(self.config.weighing)) * offset;
        if frames < 2 || weighed.abs() <= threshold {
            self.rest(Usage::Normal);
        } else if offset <= 0.0 {
            self.rest(Usage::Under);
        } else {
            // The trend crossed the threshold at an unknown time between two frames.
            let over_time = self.over_time.map_or(sent / 2.0, |time| time + sent);
            self.over_time = Some(over_time);
            self.count += 1;
            if over_time > self.config.lasting.as_millis_f64() && self.count > 1 && offset >= offset_before {
                self.usage = Usage::Over;
                self.over_time = Some(0.0);
                self.count = 0;
            }
        }
        self.usage == Usage::Over && before != Usage::Over
    }

    fn rest(&mut self, usage: Usage) {
        self.usage = usage;
        self.over_time = None;
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::KalmanConfig;
    use super::super::kalman::{Delta, Kalman};
    use super::*;

    #[test]
    fn a_constant_trend_is_overuse_at_the_thirty_sixth_frame() {
        // specs/rrtcc.md 8, example 1.
        let (mut kalman, mut detector) =
            (Kalman::new(KalmanConfig::default(), 60), Detector::new(DetectorConfig::default()));
        let sent = 100.0 / 3.0;
        let mut new = alloc::vec::Vec::new();
        for frame in 1..=40 {
            kalman.update(&Delta { delay: 38.0 - sent, sent, size: 0.0 }, detector.usage(), 25.0);
            if detector.judge(kalman.offset, kalman.frames, sent, 25.0) {
                new.push(frame);
            }
            if frame == 33 {
                assert!((detector.over_time.unwrap() - 16.67).abs() < 0.01);
            }
        }
        assert_eq!((new.as_slice(), detector.usage()), (&[36][..], Usage::Over));
    }

    #[test]
    fn a_queue_that_empties_is_underuse_and_a_falling_trend_is_no_overuse() {
        let mut detector = Detector::new(DetectorConfig::default());
        assert!(!detector.judge(-0.5, 60, 33.0, 25.0));
        assert_eq!(detector.usage(), Usage::Under);
        let mut falling = Detector::new(DetectorConfig::default());
        for step in 0..20 {
            assert!(!falling.judge(2.0 - 0.05 * f64::from(step), 60, 33.0, 25.0));
        }
        assert_eq!(falling.usage(), Usage::Normal);
        assert!(!falling.judge(0.1, 60, 33.0, 25.0));
        // One frame is not a trend.
        assert!(!falling.judge(100.0, 1, 200.0, 25.0) && falling.over_time.is_none());
    }

    #[test]
    fn near_the_greatest_rate_half_is_enough() {
        let detector = Detector::new(DetectorConfig::default());
        assert_eq!((detector.threshold(false), detector.threshold(true)), (25.0, 12.5));
    }
}
