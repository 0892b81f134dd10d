//! WebRTC's reaction to a controller's pushback: fewer frames, at a correspondingly lower rate (libwebrtc
//! `VideoStreamEncoder::UpdateTargetBitrate`).
//!
//! In specs/gcc.md 10 the encoder's target is unchanged; libwebrtc lowers it along with the frames, and Chromium's own
//! figures show it (data set chromium-gcc: for 3 s after a drop the target is 193 kbps of a 414 kbps estimate).
//!
//! The encoder does not learn that pictures are left out: it is given the frame rate of the input
//! (`GetInputFramerateFps`), so each remaining frame still gets one frame's share at the full frame rate, and half of
//! the frames at half of the target add up to a quarter of the estimate. Chromium behaves like this (88 and 135 kbps of
//! 414 in the third and fourth second after the drop, 109 and 79 of 415 after the next).

use thalweg_units::Rate;

/// A pushback of less than this share is ignored.
const NEGLIGIBLE: f64 = 0.01;
/// At most one frame in this many is dropped.
const MAX: u64 = 2;

/// Drops one picture in a given number while the controller pushes back.
#[derive(Debug, Clone, Default)]
pub(super) struct Pushback {
    /// One in this many is dropped.
    every: Option<u64>,
    pictures: u64,
}

impl Pushback {
    /// The controller would keep this share of the frames. Returns what is left of `target`, never less than `min`.
    pub(super) fn update(&mut self, keep: f64, target: Rate, min: Rate) -> Rate {
        let (target_bps, spare) = (target.as_bps(), target.as_bps().saturating_sub(min.as_bps()));
        let reduce = ((target_bps as f64 * (1.0 - keep)) as u64).min(spare);
        self.every = (1.0 - keep > NEGLIGIBLE && reduce > 0).then(|| (target_bps / reduce).max(MAX));
        self.every.map_or(target, |every| Rate::from_bps(target_bps - target_bps / every))
    }

    /// Returns true if the next picture should be dropped.
    pub(super) fn drops(&mut self) -> bool {
        let Some(every) = self.every else { return false };
        self.pictures += 1;
        (self.pictures - 1).is_multiple_of(every)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_most_every_second_frame_goes_and_half_of_the_target() {
        let mut pushback = Pushback::default();
        let (target, min) = (Rate::from_kbps(400), Rate::from_kbps(30));
        assert_eq!(pushback.update(0.0, target, min), Rate::from_kbps(200));
        let dropped = (0..10).filter(|_| pushback.drops()).count();
        assert_eq!(dropped, 5);
    }

    #[test]
    fn a_quarter_of_push_back_drops_one_frame_in_four_and_none_drops_none() {
        let mut pushback = Pushback::default();
        let (target, min) = (Rate::from_kbps(400), Rate::from_kbps(30));
        assert_eq!(pushback.update(0.75, target, min), Rate::from_kbps(300));
        assert_eq!((0..40).filter(|_| pushback.drops()).count(), 10);
        assert_eq!(pushback.update(0.995, target, min), target);
        assert!((0..40).all(|_| !pushback.drops()));
    }

    #[test]
    fn a_target_at_the_encoders_least_is_left_alone() {
        let mut pushback = Pushback::default();
        let min = Rate::from_kbps(30);
        assert_eq!(pushback.update(0.1, min, min), min);
        assert!(!pushback.drops());
    }
}
