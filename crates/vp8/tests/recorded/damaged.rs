//! Comparison with libvpx on damaged streams.

use thalweg_vp8::{Corrupt, State, decode};

use crate::outside::libvpx::binding as libvpx;
use crate::streams::vectors;

/// A simple random number generator: the damage is the same in every run.
struct Damage(u64);

impl Damage {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    /// Damages a frame as networks and faulty encoders do.
    fn apply(&mut self, frame: &mut Vec<u8>) {
        match self.below(4) {
            0 => frame.truncate(1 + self.below(frame.len())),
            1 => {
                let at = self.below(frame.len());
                frame[at] ^= 1 << self.below(8);
            }
            2 => {
                for _ in 0..1 + self.below(8) {
                    let at = self.below(frame.len());
                    frame[at] = self.below(256) as u8;
                }
            }
            // Mostly in the header.
            _ => {
                let at = 3 + self.below(30.min(frame.len() - 3));
                frame[at] = self.below(256) as u8;
            }
        }
    }
}

pub fn damaged_frames_are_refused_or_drawn_as_libvpx_does() {
    let (mut drawn, mut refused) = (0, 0);
    let vectors = vectors();
    for (index, vector) in vectors.iter().enumerate() {
        let small = vector.frames.iter().map(Vec::len).sum::<usize>() < 100_000;
        for seed in 0..if small { ROUNDS } else { ROUNDS / 10 } {
            let mut damage = Damage((index as u64) << 32 | seed);
            let (mut state, mut other) = (State::new(), libvpx::Decoder::new());
            let damaged_from = damage.below(6);
            let mut is_version_3 = false;
            for (number, frame) in vector.frames.iter().enumerate().take(12) {
                let mut frame = frame.clone();
                if number >= damaged_from && damage.below(2) == 0 {
                    damage.apply(&mut frame);
                }
                let place = format!("{}, seed {seed}, frame {number}", vector.name);
                match (decode(&state, &frame), other.decode(&frame)) {
                    (Ok(ours), Ok(theirs)) => {
                        assert_eq!(ours.is_shown, theirs.is_some(), "{place}");
                        is_version_3 |= frame[0] >> 1 & 7 == 3;
                        let luma = ours.image.size().pixels();
                        if let Some(theirs) = theirs {
                            let (ours, theirs) = (ours.image.to_i420(), theirs.to_i420());
                            // In version 3 libvpx does not draw chroma whose vector, truncated to whole pixels, points
                            // too far outside; luma never depends on it.
                            let length = if is_version_3 { luma } else { ours.len() };
                            assert!(ours[..length] == theirs[..length], "{place}: another picture");
                            drawn += 1;
                        }
                        state = ours.state;
                    }
                    // From here on libvpx has a state that is half of one frame and half of another. It does not report
                    // an invalid reference copy, but shows nothing and predicts from an arbitrary picture. libvpx 1.12
                    // accepts an incomplete key frame that is not the first but changes the size.
                    (Err(_), Err(_))
                    | (Err(Corrupt::ReferenceCopy { .. }), Ok(None))
                    | (Err(Corrupt::IncompleteKeyFrame), Ok(_)) => {
                        refused += 1;
                        break;
                    }
                    (ours, theirs) => {
                        panic!("{place}: {:?} and {:?}", ours.map(|_| ()), theirs.map(|_| ()));
                    }
                }
            }
        }
    }
    println!("{drawn} pictures are the same, {refused} frames are refused by both");
}

/// Number of times each stream is damaged.
const ROUNDS: u64 = 12;
