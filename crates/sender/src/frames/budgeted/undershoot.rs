//! Encoders that make less than they are asked for.
//!
//! One that makes half of each size as a rule is asked for twice as much, as long as its quantisers are coarse: where they are
//! fine the picture needs no more.

use thalweg_types::EncodedFrame;
use thalweg_units::Bytes;

/// The weight of a frame.
const GAIN: f64 = 1.0 / 16.0;
/// An encoder that makes this share makes what it is asked for: ours uses 0.85 of a size in the mean.
const ENOUGH: f64 = 0.7;

/// See the module.
#[derive(Debug, Clone, Copy)]
pub(super) struct Undershoot {
    /// No more than this many times as much is asked for.
    most: f64,
    /// The mean share of what was asked for.
    made: f64,
}

impl Undershoot {
    pub(super) fn new(most: f64) -> Undershoot {
        Undershoot { most, made: 1.0 }
    }

    /// The size to ask for where `size` is wanted.
    pub(super) fn asked(&self, size: Bytes) -> Bytes {
        if self.made < ENOUGH { size.scale((1.0 / self.made).min(self.most)) } else { size }
    }

    /// Takes a frame of which `wanted` was wanted; a quantiser up to `fine` is as fine as pictures need.
    pub(super) fn on_made(&mut self, wanted: Bytes, frame: &EncodedFrame, fine: u8) {
        if frame.keyframe || frame.quantizer.is_none() {
            return;
        }
        let is_coarse = frame.quantizer > Some(fine);
        let made = frame.size.as_f64() / self.asked(wanted).as_f64().max(1.0);
        self.made += GAIN * (if is_coarse { made.min(1.0) } else { 1.0 } - self.made);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Size;

    /// The size asked for instead of 1000 bytes once an encoder has made this share of what it is asked for, at this quantiser.
    fn asked(share: f64, quantizer: u8) -> u64 {
        let (mut undershoot, wanted) = (Undershoot::new(4.0), Bytes::new(1000));
        for _ in 0..200 {
            let size = undershoot.asked(wanted).scale(share);
            let mut frame = EncodedFrame::new(size, Size::HD);
            frame.quantizer = Some(quantizer);
            undershoot.on_made(wanted, &frame, 98);
        }
        undershoot.asked(wanted).get()
    }

    #[test]
    fn an_encoder_that_makes_half_at_coarse_quantisers_is_asked_for_twice_as_much_and_no_other() {
        assert!((1990..=2010).contains(&asked(0.5, 120)), "{}", asked(0.5, 120));
        assert_eq!(asked(0.1, 120), 4000, "no more than four times");
        assert_eq!(asked(0.85, 120), 1000, "enough");
        assert_eq!(asked(0.2, 60), 1000, "fine already");
    }
}
