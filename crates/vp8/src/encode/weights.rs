//! What a bit is worth, and from which difference on what is worth trying: all follow from the quantiser.
//!
//! With a step of `q` between levels an ideal coder of a residual without memory saves `ln 4 * q^2 / 12` of squared
//! error with each bit it spends (at high rates the error is `q^2 / 12` and falls by four with each bit). VP8's
//! coefficients are twice an orthonormal transform's, so that of pixels it is a quarter of that, `0.0289 q^2`, and in
//! sums of absolute differences its root, `0.17 q`.

use crate::encode::cost::{BIT, Cost};
use crate::encode::settings::Speed;

/// What the choices of a frame are weighed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weights {
    /// What a bit is worth in sums of absolute differences of pixels, in 256ths.
    pub difference_per_bit: u32,
    /// The same in sums of the absolute values of Hadamard transforms.
    pub transformed_per_bit: u32,
    /// What a bit is worth in squared errors of coefficients, in 256ths.
    pub error_per_bit: u64,
    /// A macroblock that differs so little from the reference at its place is taken from there.
    pub still: u32,
    /// A macroblock whose prediction differs so little (luma, and chroma twice) is left as predicted.
    pub quiet: u32,
    /// A macroblock that differs so little where its neighbours' motion leads follows them.
    pub followed: u32,
    /// A macroblock that differs more may be split.
    pub split: u32,
    /// A macroblock that differs more may be predicted from its own frame.
    pub intra: u32,
    /// A macroblock that differs more may be predicted from an older reference.
    pub older: u32,
    /// What a split macroblock costs besides its vectors: its first coefficients are coded one by one.
    pub split_bits: Cost,
    /// What predicting a macroblock from its own frame costs besides its mode: the neighbours' pixels
    /// the choice was made by are not yet quantised.
    pub intra_bits: Cost,
    /// What subblocks of their own modes cost besides these.
    pub subblock_bits: Cost,
}

impl Weights {
    /// For a step between levels of luma coefficients. What is worth trying was tuned for PSNR of luma at equal rate on
    /// the clips of the bench; quicker speeds try less.
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
