//! The inverse DCT, added to the prediction.

use std::arch::x86_64::*;

use super::super::super::Block;
use super::super::coefficients::{load_4, load_8};
use super::super::pixels::PixelsMut;
use super::lanes::transpose;

/// Makes the transform for one vector width.
macro_rules! inverse_transform {
    ($lanes:ident, $feature:literal) => {
        /// The transform of blocks in vectors of this width.
        mod $lanes {
            use super::super::lanes::$lanes::*;
            use super::transpose;

            transpose!($feature);

            /// One direction, from vector to vector. In 65536ths sqrt(2) cos(pi / 8) and sqrt(2) sin(pi / 8) are too
            /// large for signed numbers, so the factor used is one less.
            #[inline]
            #[target_feature(enable = $feature)]
            fn pass([a, b, c, d]: [Vector; 4]) -> [Vector; 4] {
                let times_cosine = |value| add(value, multiply_high(value, all(20091)));
                let times_sine = |value| add(value, multiply_high(value, all((35468_i32 - 65536) as i16)));
                let (even_sum, even_difference) = (add(a, c), subtract(a, c));
                let odd_difference = subtract(times_sine(b), times_cosine(d));
                let odd_sum = add(times_cosine(b), times_sine(d));
                [
                    add(even_sum, odd_sum),
                    add(even_difference, odd_difference),
                    subtract(even_difference, odd_difference),
                    subtract(even_sum, odd_sum),
                ]
            }

            /// The rows of the residual, from rows of coefficients.
            #[inline]
            #[target_feature(enable = $feature)]
            pub fn inverse(rows: [Vector; 4]) -> [Vector; 4] {
                let [a, b, c, d] = transpose(pass(rows));
                let columns = pass([add(a, all(4)), b, c, d]).map(|column| shift_right::<3>(column));
                transpose(columns)
            }
        }
    };
}

inverse_transform!(narrow, "sse4.1");
inverse_transform!(wide, "avx2");

/// Adds a residual to pixels; all of them are in the vector's low half.
#[inline]
#[target_feature(enable = "sse4.1")]
fn add_to(pixels: __m128i, residual: __m128i) -> __m128i {
    let sum = _mm_adds_epi16(_mm_cvtepu8_epi16(pixels), residual);
    _mm_packus_epi16(sum, sum)
}

#[target_feature(enable = "sse4.1")]
pub fn idct_add(coefficients: &Block, pixels: &mut [u8], stride: usize) {
    let mut pixels = PixelsMut::<4, 4>::of(pixels, stride);
    let residual = narrow::inverse([0, 1, 2, 3].map(|row| load_4(coefficients, row)));
    for (row, residual) in residual.into_iter().enumerate() {
        let sum = add_to(pixels.read().load_4(row, 0), residual);
        pixels.store_4(row, 0, sum);
    }
}

#[target_feature(enable = "sse4.1")]
pub fn idct_add_pair([left, right]: &[Block; 2], pixels: &mut [u8], stride: usize) {
    let mut pixels = PixelsMut::<8, 4>::of(pixels, stride);
    let [upper, lower] = [0, 1].map(|half| {
        let (left, right) = (load_8(left, half), load_8(right, half));
        [_mm_unpacklo_epi64(left, right), _mm_unpackhi_epi64(left, right)]
    });
    let residual = narrow::inverse([upper[0], upper[1], lower[0], lower[1]]);
    for (row, residual) in residual.into_iter().enumerate() {
        let sum = add_to(pixels.read().load_8(row, 0), residual);
        pixels.store_8(row, 0, sum);
    }
}

/// Two pairs.
#[target_feature(enable = "sse4.1")]
pub fn idct_add_four([a, b, c, d]: &[Block; 4], pixels: &mut [u8], stride: usize) {
    idct_add_pair(&[*a, *b], pixels, stride);
    idct_add_pair(&[*c, *d], &mut pixels[8..], stride);
}

#[target_feature(enable = "avx2")]
pub fn idct_add_four_avx2([a, b, c, d]: &[Block; 4], pixels: &mut [u8], stride: usize) {
    let mut pixels = PixelsMut::<16, 4>::of(pixels, stride);
    let halves = |left, right| _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(left), right);
    let [upper, lower] = [0, 1].map(|half| {
        let even = halves(load_8(a, half), load_8(c, half));
        let odd = halves(load_8(b, half), load_8(d, half));
        [_mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd)]
    });
    let residual = wide::inverse([upper[0], upper[1], lower[0], lower[1]]);
    for (row, residual) in residual.into_iter().enumerate() {
        let sum = _mm256_adds_epi16(_mm256_cvtepu8_epi16(pixels.read().load_16(row, 0)), residual);
        let bytes = _mm256_permute4x64_epi64::<0b10_00>(_mm256_packus_epi16(sum, sum));
        pixels.store_16(row, 0, _mm256_castsi256_si128(bytes));
    }
}
