//! Prediction from another frame (RFC 6386 section 18).

use super::clamped::{COPY_START, COPY_STRIDE, Source};
use crate::image::{Image, Plane, PlanesMut};
use crate::kernels::{Fraction, Kernels};
use crate::syntax::{Motion, MotionVector, Split, SplitLayout};

/// The interpolation in a reference: the meaning of the version in a frame's tag (RFC 6386 section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Interpolation {
    /// Six-tap filters: version 0, and all reserved ones.
    #[default]
    SixTap,
    /// Bilinear filters: versions 1 and 2.
    Bilinear,
    /// Bilinear filters in luma, none in chroma: version 3.
    BilinearLuma,
}

impl Interpolation {
    /// The interpolation of a version.
    #[must_use]
    pub const fn of_version(version: u8) -> Self {
        match version {
            1 | 2 => Self::Bilinear,
            3 => Self::BilinearLuma,
            _ => Self::SixTap,
        }
    }
}

/// Inter prediction of macroblocks.
#[derive(Debug, Clone, Copy)]
pub struct InterPredictor {
    /// The inner loops.
    pub kernels: &'static Kernels,
    /// The interpolation.
    pub interpolation: Interpolation,
}

/// A vector in a plane, in eighths of its pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Eighths {
    x: i32,
    y: i32,
}

impl InterPredictor {
    /// Predicts the macroblock in a column and row from a reference of the same size.
    pub fn predict(&self, reference: &Image, motion: &Motion, planes: &mut PlanesMut<'_>, column: usize, row: usize) {
        let luma =
            Source { pixels: reference.plane(Plane::Y), stride: planes.stride, height: reference.size().rows() * 16 };
        let chroma = [Plane::U, Plane::V].map(|plane| Source {
            pixels: reference.plane(plane),
            stride: planes.stride / 2,
            height: reference.size().rows() * 8,
        });
        let (x, y) = (column * 16, row * 16);
        match motion {
            Motion::Split(split) => self.predict_split(luma, chroma, split, planes, (x, y)),
            _ => {
                let vector = motion.vector();
                self.block::<16, 16>(luma, of_luma(vector), planes.y, (x, y));
                let vector = self.of_chroma(i32::from(vector.x), i32::from(vector.y));
                self.chroma::<8, 8>(chroma, vector, planes, (x / 2, y / 2));
            }
        }
    }

    fn predict_split(
        &self,
        luma: Source<'_>,
        chroma: [Source<'_>; 2],
        split: &Split,
        planes: &mut PlanesMut<'_>,
        (x, y): (usize, usize),
    ) {
        let vectors = &split.vectors;
        if split.layout == SplitLayout::Sixteenths {
            for subblock in (0..16).step_by(2) {
                let at = (x + subblock % 4 * 4, y + subblock / 4 * 4);
                let (left, right) = (vectors[subblock], vectors[subblock + 1]);
                if left == right {
                    self.block::<8, 4>(luma, of_luma(left), planes.y, at);
                } else {
                    self.block::<4, 4>(luma, of_luma(left), planes.y, at);
                    self.block::<4, 4>(luma, of_luma(right), planes.y, (at.0 + 4, at.1));
                }
            }
        } else {
            for subblock in [0, 2, 8, 10] {
                let at = (x + subblock % 4 * 4, y + subblock / 4 * 4);
                self.block::<8, 8>(luma, of_luma(vectors[subblock]), planes.y, at);
            }
        }
        // A chroma subblock moves by the mean of its four luma vectors, rounded to the nearest, halves away from 0.
        let mean = |sum: i32| (sum + if sum < 0 { -2 } else { 2 }) / 4;
        for upper in [0, 8] {
            let mut halves = [0, 2].map(|left| {
                let four = [0, 1, 4, 5].map(|i| vectors[upper + left + i]);
                let (sum_x, sum_y) = (four.map(|vector| i32::from(vector.x)), four.map(|vector| i32::from(vector.y)));
                self.of_chroma(mean(sum_x.iter().sum()), mean(sum_y.iter().sum()))
            });
            let at = (x / 2, y / 2 + upper / 2);
            if halves[0] == halves[1] {
                self.chroma::<8, 4>(chroma, halves[0], planes, at);
            } else {
                for (half, vector) in halves.iter_mut().enumerate() {
                    self.chroma::<4, 4>(chroma, *vector, planes, (at.0 + 4 * half, at.1));
                }
            }
        }
    }

    /// A chroma vector, without its fraction if chroma uses whole pixels.
    fn of_chroma(&self, x: i32, y: i32) -> Eighths {
        let mask = if self.interpolation == Interpolation::BilinearLuma { !7 } else { !0 };
        Eighths { x: x & mask, y: y & mask }
    }

    fn chroma<const COLUMNS: usize, const ROWS: usize>(
        &self,
        sources: [Source<'_>; 2],
        vector: Eighths,
        planes: &mut PlanesMut<'_>,
        at: (usize, usize),
    ) {
        self.block::<COLUMNS, ROWS>(sources[0], vector, planes.u, at);
        self.block::<COLUMNS, ROWS>(sources[1], vector, planes.v, at);
    }

    /// Predicts a block at a place of a plane.
    #[inline]
    fn block<const COLUMNS: usize, const ROWS: usize>(
        &self,
        source: Source<'_>,
        vector: Eighths,
        plane: &mut [u8],
        (x, y): (usize, usize),
    ) {
        let stride = source.stride;
        let target = &mut plane[y * stride + x..];
        let fraction = Fraction::of_vector(vector.x, vector.y);
        let from = (x as isize + (vector.x >> 3) as isize, y as isize + (vector.y >> 3) as isize);
        let kernel = match (self.interpolation, COLUMNS, ROWS) {
            (Interpolation::SixTap, 16, 16) => Kernels::sixtap_16x16,
            (Interpolation::SixTap, 8, 8) => Kernels::sixtap_8x8,
            (Interpolation::SixTap, 8, 4) => Kernels::sixtap_8x4,
            (Interpolation::SixTap, ..) => Kernels::sixtap_4x4,
            (_, 16, 16) => Kernels::bilinear_16x16,
            (_, 8, 8) => Kernels::bilinear_8x8,
            (_, 8, 4) => Kernels::bilinear_8x4,
            _ => Kernels::bilinear_4x4,
        };
        match source.index(from, (COLUMNS, ROWS), fraction) {
            Some(at) => kernel(self.kernels, source.pixels, at, stride, fraction, target, stride),
            None => over_the_edge(self.kernels, kernel, source, from, (COLUMNS, ROWS), fraction, target),
        }
    }
}

/// A kernel that predicts a block.
type Kernel = fn(&Kernels, &[u8], usize, usize, Fraction, &mut [u8], usize);

/// Predicts a block that reaches over the edge of its source.
#[cold]
fn over_the_edge(
    kernels: &Kernels,
    kernel: Kernel,
    source: Source<'_>,
    from: (isize, isize),
    size: (usize, usize),
    fraction: Fraction,
    target: &mut [u8],
) {
    let copy = source.copy(from, size);
    kernel(kernels, &copy, COPY_START, COPY_STRIDE, fraction, target, source.stride);
}

/// Luma vectors are in quarters.
fn of_luma(vector: MotionVector) -> Eighths {
    Eighths { x: i32::from(vector.x) * 2, y: i32::from(vector.y) * 2 }
}
