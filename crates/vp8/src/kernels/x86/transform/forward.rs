//! The DCT of a residual.

use std::arch::x86_64::*;

use super::super::super::Block;
use super::super::coefficients::store_8;
use super::super::pixels::Pixels;
use super::lanes::transpose;

/// `sqrt(2) cos(pi / 8)` in 16384ths.
const COSINE: i16 = 21407;
/// `sqrt(2) sin(pi / 8)` in 16384ths.
const SINE: i16 = 8867;

/// Two 16-bit factors for every pair of numbers.
const fn factors(first: i16, second: i16) -> i32 {
    (first as u16 as i32) | ((second as i32) << 16)
}

/// Makes the transform for one vector width.
macro_rules! forward_transform {
    ($lanes:ident, $feature:literal) => {
        /// The transform of blocks in vectors of this width.
        mod $lanes {
            use super::super::lanes::$lanes::*;
            use super::{COSINE, SINE, factors, transpose};

            transpose!($feature);

            /// Pairs of numbers times their factors, plus `lift` before some bits are rounded off.
            #[inline]
            #[target_feature(enable = $feature)]
            fn weigh<const BITS: i32>(pairs: [Vector; 2], factors: i32, lift: i32) -> Vector {
                let lift = all_32(lift + (1 << (BITS - 1)));
                let weigh = |pairs| shift_right_32::<BITS>(add_32(multiply_pairs(pairs, all_32(factors)), lift));
                pack_32(weigh(pairs[0]), weigh(pairs[1]))
            }

            /// One direction, from vector to vector: the first and the third exact, the second and the fourth with some
            /// bits rounded off and lifted, unless they are 0, by quarters of their factors, as the scalar version
            /// explains.
            #[inline]
            #[target_feature(enable = $feature)]
            fn pass<const BITS: i32, const LIFT: i32>([a, b, c, d]: [Vector; 4]) -> [Vector; 4] {
                let (outer_sum, inner_sum) = (add(a, d), add(b, c));
                let (outer, inner) = (subtract(a, d), subtract(b, c));
                let pairs = [interleave_low(outer, inner), interleave_high(outer, inner)];
                let is_zero = equal(or(outer, inner), all(0));
                let second = weigh::<BITS>(pairs, factors(COSINE, SINE), (COSINE as i32 * LIFT) >> 2);
                let fourth = weigh::<BITS>(pairs, factors(SINE, -COSINE), (SINE as i32 * LIFT) >> 2);
                [
                    add(outer_sum, inner_sum),
                    where_not(is_zero, second),
                    subtract(outer_sum, inner_sum),
                    where_not(is_zero, fourth),
                ]
            }

            /// The rows of coefficients, from the rows of a residual.
            #[inline]
            #[target_feature(enable = $feature)]
            pub fn forward(rows: [Vector; 4]) -> [Vector; 4] {
                let [a, b, c, d] = pass::<11, 1>(transpose(rows));
                let across = [shift_left::<3>(a), b, shift_left::<3>(c), d];
                let [a, b, c, d] = pass::<18, 32>(transpose(across));
                let round = |value| shift_right::<4>(add(value, all(7)));
                [round(a), b, round(c), d]
            }
        }
    };
}

forward_transform!(narrow, "sse4.1");
forward_transform!(wide, "avx2");

/// The differences of pixels in the low halves of vectors.
#[inline]
#[target_feature(enable = "sse4.1")]
fn differences(block: __m128i, prediction: __m128i) -> __m128i {
    _mm_sub_epi16(_mm_cvtepu8_epi16(block), _mm_cvtepu8_epi16(prediction))
}

/// Stores the left of two blocks in each row, and the right.
#[inline]
#[target_feature(enable = "sse4.1")]
fn store_pair([a, b, c, d]: [__m128i; 4], left: &mut Block, right: &mut Block) {
    store_8(left, 0, _mm_unpacklo_epi64(a, b));
    store_8(left, 1, _mm_unpacklo_epi64(c, d));
    store_8(right, 0, _mm_unpackhi_epi64(a, b));
    store_8(right, 1, _mm_unpackhi_epi64(c, d));
}

#[target_feature(enable = "sse4.1")]
pub fn forward_dct(block: &[u8], block_stride: usize, prediction: &[u8], prediction_stride: usize) -> Block {
    let block = Pixels::<4, 4>::of(block, block_stride);
    let prediction = Pixels::<4, 4>::of(prediction, prediction_stride);
    let residual = [0, 1, 2, 3].map(|row| differences(block.load_4(row, 0), prediction.load_4(row, 0)));
    let [a, b, c, d] = narrow::forward(residual);
    let mut coefficients = [0; 16];
    store_8(&mut coefficients, 0, _mm_unpacklo_epi64(a, b));
    store_8(&mut coefficients, 1, _mm_unpacklo_epi64(c, d));
    coefficients
}

#[target_feature(enable = "sse4.1")]
pub fn forward_dct_pair(block: &[u8], block_stride: usize, prediction: &[u8], prediction_stride: usize) -> [Block; 2] {
    let block = Pixels::<8, 4>::of(block, block_stride);
    let prediction = Pixels::<8, 4>::of(prediction, prediction_stride);
    let residual = [0, 1, 2, 3].map(|row| differences(block.load_8(row, 0), prediction.load_8(row, 0)));
    let [mut left, mut right] = [[0; 16]; 2];
    store_pair(narrow::forward(residual), &mut left, &mut right);
    [left, right]
}

/// Two pairs.
#[target_feature(enable = "sse4.1")]
pub fn forward_dct_four(block: &[u8], block_stride: usize, prediction: &[u8], prediction_stride: usize) -> [Block; 4] {
    let [a, b] = forward_dct_pair(block, block_stride, prediction, prediction_stride);
    let [c, d] = forward_dct_pair(&block[8..], block_stride, &prediction[8..], prediction_stride);
    [a, b, c, d]
}

#[target_feature(enable = "avx2")]
pub fn forward_dct_four_avx2(
    block: &[u8],
    block_stride: usize,
    prediction: &[u8],
    prediction_stride: usize,
) -> [Block; 4] {
    let block = Pixels::<16, 4>::of(block, block_stride);
    let prediction = Pixels::<16, 4>::of(prediction, prediction_stride);
    let residual = [0, 1, 2, 3].map(|row| {
        let (pixels, predicted) = (block.load_16(row, 0), prediction.load_16(row, 0));
        _mm256_sub_epi16(_mm256_cvtepu8_epi16(pixels), _mm256_cvtepu8_epi16(predicted))
    });
    let rows = wide::forward(residual);
    let mut blocks = [[0; 16]; 4];
    let [a, b, c, d] = &mut blocks;
    store_pair(rows.map(|row| _mm256_castsi256_si128(row)), a, b);
    store_pair(rows.map(|row| _mm256_extracti128_si256::<1>(row)), c, d);
    blocks
}
