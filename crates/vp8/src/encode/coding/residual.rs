//! The residual of a macroblock: transformed, quantised, and added back.

use crate::image::{Planes, PlanesMut};
use crate::kernels::{Block, BlockQuantizer, Kernels};
use crate::residual;
use crate::syntax::Coefficients;
use crate::syntax::tokens::Y2;

use super::quantizers::MacroblockQuantizer;

/// A macroblock's coefficients: sixteen blocks of luma, four of each chroma plane, and the Y2 block.
pub type Transformed = [Block; 25];

/// Transforms the difference of a source macroblock and its prediction.
pub struct Transform<'a> {
    kernels: &'static Kernels,
    source: Planes<'a>,
    /// Where the macroblock starts in luma and in chroma.
    starts: (usize, usize),
}

impl<'a> Transform<'a> {
    /// For the macroblock in a column and row.
    pub const fn of(kernels: &'static Kernels, source: Planes<'a>, (column, row): (usize, usize)) -> Self {
        let stride = source.stride;
        let starts = (16 * (row * stride + column), 8 * (row * stride / 2 + column));
        Self { kernels, source, starts }
    }

    /// Transforms all planes, given predictions at the same positions; with `has_y2` the first coefficients of luma go
    /// to a Y2 block.
    #[inline]
    pub fn all(&self, prediction: &Planes<'_>, has_y2: bool, coefficients: &mut Transformed) {
        self.luma(prediction, coefficients);
        self.chroma(prediction, coefficients);
        if has_y2 {
            gather_second_order(self.kernels, coefficients);
        }
    }

    /// Luma.
    #[inline]
    pub fn luma(&self, prediction: &Planes<'_>, coefficients: &mut Transformed) {
        let (at, stride) = (self.starts.0, self.source.stride);
        for row in 0..4 {
            let at = at + 4 * row * stride;
            let blocks = self.kernels.forward_dct_four(&self.source.y[at..], stride, &prediction.y[at..], stride);
            coefficients[4 * row..][..4].copy_from_slice(&blocks);
        }
    }

    /// Both chroma planes.
    #[inline]
    pub fn chroma(&self, prediction: &Planes<'_>, coefficients: &mut Transformed) {
        let (at, stride) = (self.starts.1, self.source.stride / 2);
        for (first, source, prediction) in [(16, self.source.u, prediction.u), (20, self.source.v, prediction.v)] {
            for row in 0..2 {
                let at = at + 4 * row * stride;
                let blocks = self.kernels.forward_dct_pair(&source[at..], stride, &prediction[at..], stride);
                coefficients[first + 2 * row..][..2].copy_from_slice(&blocks);
            }
        }
    }
}

/// Moves the first coefficients of the luma blocks to the Y2 block.
#[inline]
pub fn gather_second_order(kernels: &Kernels, coefficients: &mut Transformed) {
    let mut first = [0; 16];
    for (first, block) in first.iter_mut().zip(&mut coefficients[..16]) {
        *first = std::mem::take(&mut block[0]);
    }
    coefficients[Y2] = kernels.forward_walsh(&first);
}

/// A macroblock's levels and the coefficients that a decoder restores from them.
#[derive(Debug, Default)]
pub struct Residual {
    pub levels: Transformed,
    /// For each block a bit per scan position: whether its level is not 0.
    pub coded: [u16; 25],
    pub restored: Coefficients,
}

impl Residual {
    /// Quantises a macroblock. Returns whether any level is left.
    #[inline]
    pub fn quantize(
        &mut self,
        kernels: &Kernels,
        coefficients: &Transformed,
        quantizer: &MacroblockQuantizer,
        has_y2: bool,
    ) -> bool {
        let mut any = self.quantize_blocks(kernels, coefficients, &quantizer.luma, 0..16);
        any |= self.quantize_blocks(kernels, coefficients, &quantizer.chroma, 16..24);
        if has_y2 {
            any |= self.quantize_blocks(kernels, coefficients, &quantizer.y2, Y2..Y2 + 1);
        } else {
            self.coded[Y2] = 0;
        }
        any
    }

    /// Quantises some blocks of a kind. Returns whether any level is left.
    #[inline]
    pub fn quantize_blocks(
        &mut self,
        kernels: &Kernels,
        coefficients: &Transformed,
        quantizer: &BlockQuantizer,
        blocks: std::ops::Range<usize>,
    ) -> bool {
        let mut any = 0;
        for block in blocks {
            let (levels, restored) = (&mut self.levels[block], &mut self.restored.blocks[block]);
            self.coded[block] = kernels.quantize(&coefficients[block], quantizer, levels, restored);
            any |= self.coded[block];
        }
        any != 0
    }

    /// Sets the number of coded scan positions of each restored block.
    #[inline]
    pub fn set_ends(&mut self) {
        self.restored.ends = self.coded.map(|coded| (16 - coded.leading_zeros()) as u8);
    }

    /// Adds the residual of all planes to the predictions.
    #[inline]
    pub fn add(&mut self, kernels: &Kernels, planes: &mut PlanesMut<'_>, (column, row): (usize, usize), has_y2: bool) {
        self.set_ends();
        if has_y2 {
            residual::distribute_y2(kernels, &mut self.restored);
        }
        let at = 16 * (row * planes.stride + column);
        residual::add_luma(kernels, &self.restored, planes.y, at, planes.stride);
        residual::add_chroma(kernels, &self.restored, planes, column, row);
    }
}
