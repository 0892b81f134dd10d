//! References with a border, so that the search needs no bounds checks.

use crate::image::{Image, Plane};
use crate::pool::Bytes;

/// Width in pixels of the border on each side of a padded luma or chroma plane: room for a macroblock just outside,
/// plus the taps of the interpolation.
pub const BORDER: usize = 32;

/// A plane with its edges repeated [`BORDER`] times.
#[derive(Debug)]
pub struct Padded {
    pixels: Bytes,
    stride: usize,
}

impl Padded {
    /// A plane of an image, padded.
    pub fn new(image: &Image, plane: Plane) -> Self {
        let (width, height) = image.size().coded(plane);
        let stride = width + 2 * BORDER;
        let mut pixels = Bytes::with_capacity(stride * (height + 2 * BORDER));
        let rows = image.plane(plane).chunks_exact(width);
        for row in rows {
            if pixels.is_empty() {
                (0..BORDER).for_each(|_| extend(&mut pixels, row));
            }
            extend(&mut pixels, row);
        }
        let last = pixels.len() - stride;
        (0..BORDER).for_each(|_| pixels.extend_from_within(last..last + stride));
        Self { pixels, stride }
    }

    /// All pixels.
    #[inline(always)]
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// The distance of two rows.
    #[inline(always)]
    pub const fn stride(&self) -> usize {
        self.stride
    }

    /// Index of a pixel, which may be up to [`BORDER`] outside of the plane.
    #[inline(always)]
    pub const fn index(&self, x: i32, y: i32) -> usize {
        ((y + BORDER as i32) as usize) * self.stride + (x + BORDER as i32) as usize
    }
}

/// Appends a row with its border.
fn extend(pixels: &mut Vec<u8>, row: &[u8]) {
    let length = pixels.len();
    pixels.resize(length + BORDER, row[0]);
    pixels.extend_from_slice(row);
    let length = pixels.len();
    pixels.resize(length + BORDER, row[row.len() - 1]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Size;

    #[test]
    fn pixels_outside_are_the_nearest_inside() {
        let size = Size::new(16, 32).unwrap();
        let bytes: Vec<u8> = (0..Image::i420_length(size)).map(|i| (i * 7) as u8).collect();
        let image = Image::from_i420(size, &bytes).unwrap();
        for (plane, width, height) in [(Plane::Y, 16, 32), (Plane::V, 8, 16)] {
            let padded = Padded::new(&image, plane);
            let border = BORDER as i32;
            assert_eq!(padded.pixels().len(), padded.index(width + border - 1, height + border - 1) + 1);
            for (x, y) in [(-border, -border), (-1, 3), (5, 5), (width + 31, 7), (width, height + 31), (3, height)] {
                let inside = y.clamp(0, height - 1) * width + x.clamp(0, width - 1);
                assert_eq!(padded.pixels()[padded.index(x, y)], image.plane(plane)[inside as usize]);
            }
        }
    }
}
