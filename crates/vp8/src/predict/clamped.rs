//! Blocks that reach over the edge of a reference, where its outermost pixels are repeated for ever.

use crate::kernels::Fraction;

/// What the longest interpolation reads before a block, and after it.
const BEFORE: usize = 2;
const AFTER: usize = 3;

/// The longest side of a block with what is read around it.
const SIDE: usize = 16 + BEFORE + AFTER;

/// The distance of two rows of a copy.
pub const COPY_STRIDE: usize = 32;

/// A block with what is read around it, copied.
pub type Copy = [u8; COPY_STRIDE * SIDE];

/// A plane that is predicted from.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    pub pixels: &'a [u8],
    pub stride: usize,
    pub height: usize,
}

impl<'a> Source<'a> {
    /// The slice, index and stride to read a block of `columns` x `rows` from whose first pixel is at `x`, `y`: the plane's own if
    /// the block, with what is read around it, is inside, and otherwise those of `copy`, where it is copied to.
    #[inline]
    pub fn block<'b>(
        &self,
        (x, y): (isize, isize),
        (columns, rows): (usize, usize),
        fraction: Fraction,
        copy: &'b mut Copy,
    ) -> (&'b [u8], usize, usize)
    where
        'a: 'b,
    {
        // A whole vector reads nothing around; otherwise look for what both passes may need.
        let around = if fraction == Fraction::default() { (0, 0) } else { (BEFORE, AFTER) };
        let is_inside = x >= around.0 as isize
            && y >= around.0 as isize
            && x + (columns + around.1) as isize <= self.stride as isize
            && y + (rows + around.1) as isize <= self.height as isize;
        if is_inside {
            return (self.pixels, y as usize * self.stride + x as usize, self.stride);
        }
        self.copy((x, y), (columns, rows), copy);
        (copy, BEFORE * COPY_STRIDE + BEFORE, COPY_STRIDE)
    }

    #[cold]
    fn copy(&self, (x, y): (isize, isize), (columns, rows): (usize, usize), copy: &mut Copy) {
        let last = |length: usize| length as isize - 1;
        for (row, target) in copy.chunks_exact_mut(COPY_STRIDE).take(rows + BEFORE + AFTER).enumerate() {
            let y = (y + row as isize - BEFORE as isize).clamp(0, last(self.height));
            let source = &self.pixels[y as usize * self.stride..][..self.stride];
            for (column, pixel) in target[..columns + BEFORE + AFTER].iter_mut().enumerate() {
                let x = (x + column as isize - BEFORE as isize).clamp(0, last(self.stride));
                *pixel = source[x as usize];
            }
        }
    }
}
