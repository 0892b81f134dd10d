//! Prediction of a macroblock's motion from its neighbours (RFC 6386 section 16.3).

use super::modes::Neighbour;
use super::motion::{Reference, SignBias};
use super::motion_vectors::MotionVector;
use crate::bool_coder::Probability;
use crate::image::Size;

/// The probabilities of motion modes, by the weight of the neighbours for each.
const MODE_CONTEXTS: [[Probability; 4]; 6] =
    [[7, 1, 1, 143], [14, 18, 14, 107], [135, 64, 57, 68], [60, 56, 128, 65], [159, 134, 128, 34], [234, 188, 128, 28]];

/// How far over the frame's edges the neighbours' vectors may point, in quarters of a pixel: one macroblock.
const MARGIN: i32 = 16 * 4;

/// The range of vectors that keep a macroblock in the frame or just outside of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    min: (i32, i32),
    max: (i32, i32),
}

impl Bounds {
    /// The bounds for the macroblock in a column and row.
    #[must_use]
    pub const fn of(size: Size, column: usize, row: usize) -> Self {
        const fn quarters(macroblocks: usize) -> i32 {
            macroblocks as i32 * 16 * 4
        }
        Self {
            min: (-quarters(column) - MARGIN, -quarters(row) - MARGIN),
            max: (quarters(size.columns() - 1 - column) + MARGIN, quarters(size.rows() - 1 - row) + MARGIN),
        }
    }

    /// The nearest vector within the bounds.
    #[must_use]
    pub fn clamp(&self, vector: MotionVector) -> MotionVector {
        // The bounds enclose 0, so clamping makes no component larger, and it still fits.
        MotionVector {
            x: i32::from(vector.x).clamp(self.min.0, self.max.0) as i16,
            y: i32::from(vector.y).clamp(self.min.1, self.max.1) as i16,
        }
    }
}

/// The motion predicted from the neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Survey {
    /// The vector from which new vectors are coded as differences.
    pub best: MotionVector,
    /// The most frequent vector except zero.
    pub nearest: MotionVector,
    /// The second most frequent.
    pub near: MotionVector,
    /// The probabilities of the motion modes.
    pub modes: [Probability; 4],
}

impl Survey {
    /// The survey of the neighbours of a macroblock with this reference.
    #[inline]
    #[must_use]
    pub fn of(
        above: &Neighbour,
        left: &Neighbour,
        above_left: &Neighbour,
        reference: Reference,
        sign_bias: SignBias,
        bounds: &Bounds,
    ) -> Self {
        // The first is the zero vector, followed by the distinct vectors in the order they are found.
        let mut vectors = [MotionVector::ZERO; 4];
        let mut weights = [0_usize; 4];
        let mut found = 0;
        let bias = sign_bias.of(reference);
        for (neighbour, weight) in [(above, 2), (left, 2), (above_left, 1)] {
            let Some(other) = neighbour.reference else { continue };
            if neighbour.vector == MotionVector::ZERO {
                weights[0] += weight;
                continue;
            }
            let vector = if sign_bias.of(other) == bias { neighbour.vector } else { neighbour.vector.reversed() };
            // Each vector is compared only with the one found last, if any.
            if found == 0 || vector != vectors[found] {
                found += 1;
                vectors[found] = vector;
            }
            weights[found] += weight;
        }
        // There are three entries, of which the last may equal the first.
        if weights[3] > 0 && vectors[3] == vectors[1] {
            weights[1] += 1;
        }
        weights[3] = 2 * (usize::from(above.is_split) + usize::from(left.is_split)) + usize::from(above_left.is_split);
        if weights[2] > weights[1] {
            weights.swap(1, 2);
            vectors.swap(1, 2);
        }
        let best = if weights[1] >= weights[0] { vectors[1] } else { MotionVector::ZERO };
        Self {
            best: bounds.clamp(best),
            nearest: bounds.clamp(vectors[1]),
            near: bounds.clamp(vectors[2]),
            modes: std::array::from_fn(|node| MODE_CONTEXTS[weights[node]][node]),
        }
    }
}
