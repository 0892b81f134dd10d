//! The encoder's output relative to its target: a keyframe every second costs more than its rate control expects.

use thalweg_units::Bytes;

/// The weight of the newest group in the estimate for the next.
const NEWEST: f64 = 0.3;
/// A group of which less than this share of the frames was encoded is ignored.
const ENOUGH: f64 = 0.75;
/// The ratio is clamped to this range.
const MIN: f64 = 0.5;
const MAX: f64 = 2.0;

/// Bytes encoded over bytes asked for, by group.
#[derive(Debug, Clone)]
pub(super) struct Made {
    ratio: f64,
    asked: Bytes,
    made: Bytes,
    frames: u32,
}

impl Default for Made {
    fn default() -> Made {
        Made { ratio: 1.0, asked: Bytes::ZERO, made: Bytes::ZERO, frames: 0 }
    }
}

impl Made {
    /// The encoder's output over its target.
    pub(super) fn ratio(&self) -> f64 {
        self.ratio
    }

    /// The encoder is asked for a frame of this size.
    pub(super) fn ask(&mut self, size: Bytes) {
        self.asked += size;
    }

    /// The frame came out at this size.
    pub(super) fn add(&mut self, size: Bytes) {
        self.made += size;
        self.frames += 1;
    }

    /// A group of `frames` has ended.
    pub(super) fn end(&mut self, frames: u32) {
        if f64::from(self.frames) >= ENOUGH * f64::from(frames) && self.asked > Bytes::ZERO {
            let ratio = (self.made.as_f64() / self.asked.as_f64()).clamp(MIN, MAX);
            self.ratio += NEWEST * (ratio - self.ratio);
        }
        (self.asked, self.made, self.frames) = (Bytes::ZERO, Bytes::ZERO, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(made: &mut Made, frames: u32, bytes: u64) -> f64 {
        for _ in 0..frames {
            made.ask(Bytes::new(1000));
            made.add(Bytes::new(bytes));
        }
        made.end(32);
        made.ratio()
    }

    #[test]
    fn an_encoder_that_makes_too_much_is_asked_for_less_and_a_group_cut_short_says_nothing() {
        let mut made = Made::default();
        assert_eq!(made.ratio(), 1.0);
        (0..30).for_each(|_| {
            group(&mut made, 32, 1250);
        });
        assert!((made.ratio() - 1.25).abs() < 0.01);
        assert!((group(&mut made, 8, 9000) - 1.25).abs() < 0.01);
        assert!(group(&mut made, 32, 90_000) <= MAX);
    }
}
