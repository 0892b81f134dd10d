//! Blocks that reach over the edge of a reference, where its outermost pixels are repeated for ever.

use crate::kernels::Fraction;

/// What the longest interpolation reads before a block, and after it.
const BEFORE: usize = 2;
const AFTER: usize = 3;

/// The longest side of a block with what is read around it.
const SIDE: usize = 16 + BEFORE + AFTER;

/// The distance of two rows of a copy.
pub const COPY_STRIDE: usize = 32;

/// Where in a copy the block itself starts.
pub const COPY_START: usize = BEFORE * COPY_STRIDE + BEFORE;

/// A block with what is read around it, copied.
pub type Copy = [u8; COPY_STRIDE * SIDE];

/// A plane that is predicted from.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    pub pixels: &'a [u8],
    pub stride: usize,
    pub height: usize,
}

impl Source<'_> {
    /// The index of the pixel at `x`, `y` if a block of `columns` x `rows` that starts there is inside the plane, with what is
    /// read around it.
    #[inline]
    pub fn index(&self, (x, y): (isize, isize), (columns, rows): (usize, usize), fraction: Fraction) -> Option<usize> {
        // A whole vector reads nothing around; otherwise look for what both passes may need.
        let (before, after) = if fraction == Fraction::default() { (0, 0) } else { (BEFORE as isize, AFTER as isize) };
        let is_inside = x >= before
            && y >= before
            && x + columns as isize + after <= self.stride as isize
            && y + rows as isize + after <= self.height as isize;
        is_inside.then(|| y as usize * self.stride + x as usize)
    }

    /// Copies a block of `columns` x `rows` that starts at `x`, `y`, with what is read around it. It starts at
    /// [`COPY_START`] there.
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
