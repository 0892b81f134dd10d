//! How long pictures are encoded, and how large they may become to be encoded before the next one is taken.
//!
//! Encoding takes longer the more pixels a picture has, and the more bytes it becomes: with ours on one core of 2026, 20 kB of 720
//! lines take 22 ms and 50 kB 70 ms. So where it takes too long frames become smaller first, and the picture only once their
//! quantisers are coarse (`ladder.rs`).

use thalweg_types::EncodedFrame;
use thalweg_units::{Bytes, Size, Span};

/// Times are smoothed over so many pictures.
const PICTURES: i64 = 8;
/// A choice: a picture that is late by a factor takes that factor to this power off the most.
const LESS: f64 = 0.3;
/// A choice: one in time adds a fiftieth.
const MORE: f64 = 1.02;
/// The share of the camera's interval within which a picture is in time: encoding times vary.
pub(super) const IN_TIME: f64 = 0.8;

/// See the module.
#[derive(Debug, Clone, Copy)]
pub(super) struct Encoding {
    mean: Span,
    most: Bytes,
    /// The size of pictures for which `most` holds.
    picture: Option<Size>,
}

impl Default for Encoding {
    fn default() -> Encoding {
        Encoding { mean: Span::ZERO, most: Bytes::MAX, picture: None }
    }
}

impl Encoding {
    /// How long a picture is encoded, smoothed.
    pub(super) fn mean(&self) -> Span {
        self.mean
    }

    /// The most bytes that a frame should have so that it is encoded in time.
    pub(super) fn most(&self) -> Bytes {
        self.most
    }

    /// Takes a frame that was encoded for `took`, with a camera that takes pictures `interval` apart; it can become smaller if
    /// its quantiser `is_fine`.
    pub(super) fn on_encoded(&mut self, took: Span, interval: Span, frame: &EncodedFrame, is_fine: bool) {
        self.mean = self.mean + (took - self.mean) / PICTURES;
        if self.picture.replace(frame.picture) != Some(frame.picture) {
            self.most = Bytes::MAX;
        }
        let share = self.mean.ratio(interval);
        if share > 1.0 && is_fine {
            self.most = self.most.min(frame.size).scale(libm::pow(share, -LESS));
        } else if share < IN_TIME {
            self.most = self.most.scale(MORE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_become_smaller_until_they_are_encoded_in_time_and_no_others() {
        let interval = Span::from_millis(33);
        // 15 ms for the pixels, and 1 ms for each 1000 bytes.
        let play = |wanted: u64| {
            let mut encoding = Encoding::default();
            let mut made = Bytes::ZERO;
            for _ in 0..300 {
                made = Bytes::new(wanted).min(encoding.most());
                let took = Span::from_millis(15) + Span::from_micros(made.get() as i64);
                encoding.on_encoded(took, interval, &EncodedFrame::new(made, Size::HD), true);
            }
            made.get()
        };
        assert_eq!(play(10_000), 10_000);
        assert!((9000..20_000).contains(&play(60_000)), "{} bytes take {} ms", play(60_000), 15 + play(60_000) / 1000);
    }
}
