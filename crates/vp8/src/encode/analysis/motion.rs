//! Motion search.

use super::padded::{BORDER, Padded};
use super::vectors::VectorCosts;
use crate::encode::cost::Cost;
use crate::kernels::{Fraction, Kernels};
use crate::syntax::MotionVector;

/// How far outside the reference a block may start, in whole pixels: one more and the interpolation would read beyond
/// the border. There are only repeated edges anyway.
const OUTSIDE: i32 = BORDER as i32 - 4;

/// The limits of a search.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// The first step of the search over whole pixels: it is halved until it is one.
    pub first_step: i32,
    /// How often the search continues from a better position before it takes the next smaller step.
    pub rounds: u32,
    /// Number of rounds over the neighbours at half a pixel.
    pub half_rounds: u32,
    /// Number of rounds over the neighbours at a quarter of a pixel.
    pub quarter_rounds: u32,
}

/// A block of the source, the reference to search, and the cost of vectors.
pub struct Search<'a> {
    pub kernels: &'static Kernels,
    /// The source's plane, from the block's first pixel on.
    pub source: &'a [u8],
    pub stride: usize,
    pub reference: &'a Padded,
    /// The block's position in the plane, in pixels.
    pub place: (i32, i32),
    /// The plane's size in pixels.
    pub size: (i32, i32),
    pub costs: &'a VectorCosts,
    /// The predicted vector, from which differences are coded.
    pub origin: MotionVector,
    /// Weight of a bit in sums of absolute differences, in 256ths.
    pub per_bit: u32,
}

/// A vector and its cost.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    pub vector: MotionVector,
    /// The sum of absolute differences.
    pub difference: u32,
    /// The same plus the cost of the vector's bits.
    pub cost: u32,
}

/// Sums of absolute differences left, right, above and below a position, from which the fraction is estimated.
type Cross = [u32; 4];

impl Search<'_> {
    /// The best vector for a block of 16x16 (`SIDE` 16) or 8x8 pixels that a search from the given starts finds.
    pub fn find<const SIDE: i32>(&self, starts: &[MotionVector], effort: Effort) -> Found {
        let (whole, cross) = self.find_whole::<SIDE>(starts, effort);
        self.refine::<SIDE>(whole, cross, effort)
    }

    /// Cost of a whole-pixel vector, in sums of absolute differences.
    #[inline(always)]
    fn price(&self, vector: MotionVector) -> u32 {
        self.weigh(self.costs.of(vector, self.origin))
    }

    /// Converts bits to sums of absolute differences.
    #[inline(always)]
    pub fn weigh(&self, bits: Cost) -> u32 {
        (bits * self.per_bit) >> 16
    }

    fn find_whole<const SIDE: i32>(&self, starts: &[MotionVector], effort: Effort) -> (Found, Cross) {
        let first = self.clamp_whole::<SIDE>(starts[0]);
        let mut best = Found { vector: first, difference: u32::MAX, cost: u32::MAX };
        for starts in starts.chunks(4) {
            let vectors =
                std::array::from_fn(|i| starts.get(i).map_or(first, |&start| self.clamp_whole::<SIDE>(start)));
            self.compare::<SIDE>(vectors, &mut best);
        }
        let mut cross = [0; 4];
        let mut step = effort.first_step;
        while step > 0 {
            for round in 0.. {
                let center = best.vector;
                let (dx, dy) = ((step * 4) as i16, (step * 4) as i16);
                let MotionVector { x, y } = center;
                let around = [
                    MotionVector { x: x - dx, y },
                    MotionVector { x: x + dx, y },
                    MotionVector { x, y: y - dy },
                    MotionVector { x, y: y + dy },
                ];
                cross = self.compare::<SIDE>(around.map(|vector| self.clamp_whole::<SIDE>(vector)), &mut best);
                if best.vector == center || round >= effort.rounds {
                    break;
                }
            }
            step /= 2;
        }
        (best, cross)
    }

    /// Tests four whole-pixel vectors.
    #[inline(always)]
    fn compare<const SIDE: i32>(&self, vectors: [MotionVector; 4], best: &mut Found) -> [u32; 4] {
        let (pixels, stride) = (self.reference.pixels(), self.reference.stride());
        let at = vectors.map(|vector| self.index(vector));
        let differences = match SIDE {
            16 => self.kernels.sad_16x16_at(self.source, self.stride, pixels, at, stride),
            _ => self.kernels.sad_8x8_at(self.source, self.stride, pixels, at, stride),
        };
        for (vector, difference) in vectors.into_iter().zip(differences) {
            if difference < best.cost {
                let cost = difference + self.price(vector);
                if cost < best.cost {
                    *best = Found { vector, difference, cost };
                }
            }
        }
        differences
    }

    /// Index in the reference of a vector's target, without its fraction.
    #[inline(always)]
    fn index(&self, vector: MotionVector) -> usize {
        self.reference.index(self.place.0 + i32::from(vector.x >> 2), self.place.1 + i32::from(vector.y >> 2))
    }

    /// The nearest whole-pixel vector inside the reference.
    #[inline(always)]
    fn clamp_whole<const SIDE: i32>(&self, vector: MotionVector) -> MotionVector {
        let clamp = |component: i16, place: i32, size: i32| {
            let pixels = (i32::from(component) + 2) >> 2;
            (pixels.clamp(-OUTSIDE - place, size - SIDE + OUTSIDE - place) * 4) as i16
        };
        MotionVector { x: clamp(vector.x, self.place.0, self.size.0), y: clamp(vector.y, self.place.1, self.size.1) }
    }

    /// Returns true if a block may be predicted with a vector.
    #[inline(always)]
    pub fn is_inside<const SIDE: i32>(&self, vector: MotionVector) -> bool {
        let is_inside = |component: i16, place: i32, size: i32| {
            let start = place + i32::from(component >> 2);
            (-OUTSIDE..size - SIDE + OUTSIDE).contains(&start)
        };
        is_inside(vector.x, self.place.0, self.size.0) && is_inside(vector.y, self.place.1, self.size.1)
    }

    /// The prediction error of the block with any vector inside.
    #[inline(always)]
    pub fn difference<const SIDE: i32>(&self, vector: MotionVector) -> u32 {
        let at = self.index(vector);
        let (pixels, stride) = (self.reference.pixels(), self.reference.stride());
        if vector.x & 3 == 0 && vector.y & 3 == 0 {
            return match SIDE {
                16 => self.kernels.sad_16x16(self.source, self.stride, &pixels[at..], stride),
                _ => self.kernels.sad_8x8(self.source, self.stride, &pixels[at..], stride),
            };
        }
        let fraction = Fraction::of_vector(2 * i32::from(vector.x), 2 * i32::from(vector.y));
        let mut prediction = [0; 256];
        match SIDE {
            16 => {
                self.kernels.sixtap_16x16(pixels, at, stride, fraction, &mut prediction, 16);
                self.kernels.sad_16x16(self.source, self.stride, &prediction, 16)
            }
            _ => {
                self.kernels.sixtap_8x8(pixels, at, stride, fraction, &mut prediction, 8);
                self.kernels.sad_8x8(self.source, self.stride, &prediction, 8)
            }
        }
    }

    /// Tests fractional positions: first the one estimated from the surrounding differences, then its neighbours.
    fn refine<const SIDE: i32>(&self, whole: Found, cross: Cross, effort: Effort) -> Found {
        let mut best = whole;
        let [left, right, above, below] = cross;
        let guess = MotionVector {
            x: whole.vector.x + vertex(left, whole.difference, right),
            y: whole.vector.y + vertex(above, whole.difference, below),
        };
        if guess != whole.vector {
            self.consider::<SIDE>(guess, &mut best);
        }
        for (step, rounds) in [(2, effort.half_rounds), (1, effort.quarter_rounds)] {
            for _ in 0..rounds {
                let center = best.vector;
                for (dx, dy) in [(step, 0), (0, step)] {
                    let MotionVector { x, y } = best.vector;
                    let (one, other) = (MotionVector { x: x - dx, y: y - dy }, MotionVector { x: x + dx, y: y + dy });
                    if one != whole.vector && one != guess {
                        self.consider::<SIDE>(one, &mut best);
                    }
                    if best.vector != one && other != whole.vector && other != guess {
                        self.consider::<SIDE>(other, &mut best);
                    }
                }
                if best.vector == center {
                    break;
                }
            }
        }
        best
    }

    #[inline]
    fn consider<const SIDE: i32>(&self, vector: MotionVector, best: &mut Found) {
        let price = self.price(vector);
        if price < best.cost && self.is_inside::<SIDE>(vector) {
            let difference = self.difference::<SIDE>(vector);
            if difference + price < best.cost {
                *best = Found { vector, difference, cost: difference + price };
            }
        }
    }
}

/// The intersection, between -2 and 2 quarters of a pixel, of two lines with opposite slopes, one through the middle of
/// three values a pixel apart and the larger of its neighbours, the other through the smaller: sums of absolute
/// differences rise about linearly. (The vertex of a parabola took a tenth of a decibel more bits.)
#[inline(always)]
fn vertex(before: u32, at: u32, after: u32) -> i16 {
    let (before, at, after) = (i64::from(before), i64::from(at), i64::from(after));
    let slope = before.max(after) - at;
    if before < at || after < at || slope == 0 {
        return 0;
    }
    // Half of the difference over the slope, in quarters, rounded to the nearest.
    let difference = before - after;
    ((4 * difference + if difference > 0 { slope } else { -slope }) / (2 * slope)) as i16
}
