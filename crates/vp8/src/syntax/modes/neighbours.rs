//! The macroblocks around the one that is coded next.

use super::Prediction;
use super::neighbour::Neighbour;
use crate::image::Size;
use crate::syntax::survey::{Bounds, Survey};
use crate::syntax::{Reference, SignBias};

/// The neighbours of the macroblock that is coded next, in raster order.
#[derive(Debug, Clone)]
pub struct Neighbours {
    size: Size,
    column: usize,
    row: usize,
    /// One per column, after one outside of the frame: before the current column those of this row, from it on those of
    /// the row above.
    above: Vec<Neighbour>,
    left: Neighbour,
    above_left: Neighbour,
}

impl Neighbours {
    /// The neighbours before a frame's first macroblock.
    #[must_use]
    pub fn new(size: Size) -> Self {
        Self {
            size,
            column: 0,
            row: 0,
            above: vec![Neighbour::default(); size.columns()],
            left: Neighbour::default(),
            above_left: Neighbour::default(),
        }
    }

    /// Advances to the next macroblock, after one with this prediction.
    #[inline]
    pub fn advance(&mut self, prediction: &Prediction) {
        self.left = Neighbour::of(prediction);
        self.above_left = std::mem::replace(&mut self.above[self.column], self.left);
        self.column += 1;
        if self.column == self.above.len() {
            (self.column, self.row) = (0, self.row + 1);
            (self.left, self.above_left) = (Neighbour::default(), Neighbour::default());
        }
    }

    /// The macroblock's column and row.
    #[must_use]
    pub const fn position(&self) -> (usize, usize) {
        (self.column, self.row)
    }

    /// The macroblock above.
    #[must_use]
    pub fn above(&self) -> &Neighbour {
        &self.above[self.column]
    }

    /// The macroblock to the left.
    #[must_use]
    pub const fn left(&self) -> &Neighbour {
        &self.left
    }

    /// The survey of the neighbours' motion for a macroblock with this reference.
    #[inline]
    #[must_use]
    pub fn survey(&self, reference: Reference, sign_bias: SignBias) -> Survey {
        let bounds = Bounds::of(self.size, self.column, self.row);
        Survey::of(self.above(), &self.left, &self.above_left, reference, sign_bias, &bounds)
    }
}
