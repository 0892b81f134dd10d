//! Predicting a macroblock from a padded reference.

use super::inter::PaddedReference;
use super::padded::Padded;
use crate::image::PlanesMut;
use crate::kernels::{Fraction, Kernels};
use crate::syntax::{Motion, MotionVector};

/// Draws the prediction of the macroblock in a column and row.
pub fn predict(
    kernels: &Kernels,
    reference: &PaddedReference,
    motion: &Motion,
    (column, row): (usize, usize),
    planes: &mut PlanesMut<'_>,
) {
    let (x, y) = (column as i32, row as i32);
    let stride = planes.stride;
    let luma = &mut planes.y[16 * (row * stride + column)..];
    let at = 8 * (row * stride / 2 + column);
    match motion {
        Motion::Split(split) => {
            for quarter in 0..4 {
                let (right, down) = (quarter % 2, quarter / 2);
                // Here all subblocks of a quarter share a vector, and so does the chroma below it.
                let vector = split.vectors[right * 2 + down * 8];
                let place = (16 * x + 8 * right as i32, 16 * y + 8 * down as i32);
                let (from, fraction) = locate_luma(&reference.y, place, vector);
                let target = &mut luma[8 * (down * stride + right)..];
                kernels.sixtap_8x8(reference.y.pixels(), from, reference.y.stride(), fraction, target, stride);
                for (plane, target) in [(&reference.u, &mut *planes.u), (&reference.v, &mut *planes.v)] {
                    let place = (8 * x + 4 * right as i32, 8 * y + 4 * down as i32);
                    let (from, fraction) = locate_chroma(plane, place, vector);
                    let target = &mut target[at + 4 * (down * stride / 2 + right)..];
                    kernels.sixtap_4x4(plane.pixels(), from, plane.stride(), fraction, target, stride / 2);
                }
            }
        }
        _ => {
            let vector = motion.vector();
            let (from, fraction) = locate_luma(&reference.y, (16 * x, 16 * y), vector);
            kernels.sixtap_16x16(reference.y.pixels(), from, reference.y.stride(), fraction, luma, stride);
            for (plane, target) in [(&reference.u, &mut *planes.u), (&reference.v, &mut *planes.v)] {
                let (from, fraction) = locate_chroma(plane, (8 * x, 8 * y), vector);
                kernels.sixtap_8x8(plane.pixels(), from, plane.stride(), fraction, &mut target[at..], stride / 2);
            }
        }
    }
}

/// The target of a vector from a position in luma: an index and the fraction of a pixel.
fn locate_luma(plane: &Padded, (x, y): (i32, i32), vector: MotionVector) -> (usize, Fraction) {
    let (right, down) = (i32::from(vector.x), i32::from(vector.y));
    (plane.index(x + (right >> 2), y + (down >> 2)), Fraction::of_vector(2 * right, 2 * down))
}

/// The same in chroma, where vectors are in eighths of a pixel.
fn locate_chroma(plane: &Padded, (x, y): (i32, i32), vector: MotionVector) -> (usize, Fraction) {
    let (right, down) = (i32::from(vector.x), i32::from(vector.y));
    (plane.index(x + (right >> 3), y + (down >> 3)), Fraction::of_vector(right, down))
}
