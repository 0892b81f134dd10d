//! The weight of a bit, and thresholds of prediction error for trying alternatives: all follow from the quantiser.
//!
//! With a step of `q` between levels, an ideal coder of a memoryless residual saves `ln 4 * q^2 / 12` of squared error
//! per bit (at high rates the error is `q^2 / 12` and falls by a factor of four per bit). VP8's coefficients are twice
//! those of an orthonormal transform, so the value for pixels is a quarter of that, `0.0289 q^2`, and in sums of
//! absolute differences its root, `0.17 q`.

use crate::encode::cost::{BIT, Cost};
use crate::encode::settings::Speed;

/// The weights for the choices of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weights {
    /// Weight of a bit in sums of absolute differences of pixels, in 256ths.
    pub difference_per_bit: u32,
    /// The same in sums of the absolute values of Hadamard transforms.
    pub transformed_per_bit: u32,
    /// Weight of a bit in squared errors of coefficients, in 256ths.
    pub error_per_bit: u64,
    /// A macroblock that differs less from the reference at its position is copied from there.
    pub still: u32,
    /// A macroblock whose prediction differs less (luma plus twice chroma) gets no residual.
    pub quiet: u32,
    /// A macroblock that differs less with its neighbours' motion uses that motion.
    pub followed: u32,
    /// A macroblock that differs more may be split.
    pub split: u32,
    /// A macroblock that differs more may be predicted from its own frame.
    pub intra: u32,
    /// A macroblock that differs more may be predicted from an older reference.
    pub older: u32,
    /// Extra cost of a split macroblock besides its vectors: its first coefficients are coded one by one.
    pub split_bits: Cost,
    /// Extra cost of intra prediction besides its mode: the neighbouring pixels that the choice is based on are not
    /// quantised yet.
    pub intra_bits: Cost,
    /// Extra cost of subblock modes besides the modes themselves.
    pub subblock_bits: Cost,
}

impl Weights {
    /// The weights for a step between levels of luma coefficients. The thresholds were tuned for PSNR of luma at equal
    /// rate on the clips of the bench; faster speeds try less.
    pub const fn new(step: i16, speed: Speed) -> Self {
        let step = step as u32;
        let (still, followed, quiet, split) = match speed {
            Speed::Fast => (7, 11, 12, 0),
            Speed::Standard => (4, 6, 10, 60),
            Speed::Slow => (2, 2, 8, 25),
        };
        Self {
            difference_per_bit: step * 43,
            transformed_per_bit: step * 64,
            error_per_bit: (step * step * 26) as u64,
            still: still * step,
            followed: followed * step,
            quiet: quiet * step,
            split: split * step,
            intra: 20 * step,
            older: 24 * step,
            split_bits: 16 * BIT,
            intra_bits: 12 * BIT,
            subblock_bits: 16 * BIT,
        }
    }
}
