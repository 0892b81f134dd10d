//! Blocks that reach over the edge of a reference, beyond which its outermost pixels are repeated.

use crate::kernels::Fraction;

/// Pixels that the longest interpolation reads before a block, and after it.
const BEFORE: usize = 2;
const AFTER: usize = 3;

/// Maximum side of a block, including the pixels read around it.
const SIDE: usize = 16 + BEFORE + AFTER;

/// The stride of a copy.
pub const COPY_STRIDE: usize = 32;

/// Index of the block itself in a copy.
pub const COPY_START: usize = BEFORE * COPY_STRIDE + BEFORE;

/// A copy of a block with the pixels read around it.
pub type Copy = [u8; COPY_STRIDE * SIDE];

/// A plane of a reference.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    pub pixels: &'a [u8],
    pub stride: usize,
    pub height: usize,
}

impl Source<'_> {
    /// The index of the pixel at `x`, `y`, if a block of `columns` x `rows` that starts there, including the pixels
    /// read around it, is inside of the plane.
    #[inline]
    pub fn index(&self, (x, y): (isize, isize), (columns, rows): (usize, usize), fraction: Fraction) -> Option<usize> {
        // A whole-pixel vector reads nothing around the block; otherwise the needs of both passes are checked.
        let (before, after) = if fraction == Fraction::default() { (0, 0) } else { (BEFORE as isize, AFTER as isize) };
        let is_inside = x >= before
            && y >= before
            && x + columns as isize + after <= self.stride as isize
            && y + rows as isize + after <= self.height as isize;
        is_inside.then(|| y as usize * self.stride + x as usize)
    }

    /// Copies a block of `columns` x `rows` that starts at `x`, `y`, including the pixels read around it. In the copy
    /// it starts at [`COPY_START`].
    pub fn copy(&self, (x, y): (isize, isize), (columns, rows): (usize, usize)) -> Copy {
        let mut copy = [0; COPY_STRIDE * SIDE];
        let last = |length: usize| length as isize - 1;
        for (row, target) in copy.chunks_exact_mut(COPY_STRIDE).take(rows + BEFORE + AFTER).enumerate() {
            let y = (y + row as isize - BEFORE as isize).clamp(0, last(self.height));
            let source = &self.pixels[y as usize * self.stride..][..self.stride];
            for (column, pixel) in target[..columns + BEFORE + AFTER].iter_mut().enumerate() {
                let x = (x + column as isize - BEFORE as isize).clamp(0, last(self.stride));
                *pixel = source[x as usize];
            }
        }
        copy
    }
}
