//! Sums of absolute differences: `psadbw` adds eight of them at a time. Loading the pixels takes most of the time, so
//! wider vectors gain nothing (measured).

use std::arch::x86_64::*;

use super::super::coefficients::sums;
use super::super::pixels::Pixels;

/// The sum of a vector's two 64-bit numbers.
#[inline]
#[target_feature(enable = "sse2")]
fn sum_of_64(sums: __m128i) -> u32 {
    _mm_cvtsi128_si32(_mm_add_epi64(sums, _mm_unpackhi_epi64(sums, sums))) as u32
}

/// The sums of the low 32 bits of both halves of four vectors: one number per vector.
#[inline]
#[target_feature(enable = "sse2")]
fn sums_of_four([a, b, c, d]: [__m128i; 4]) -> [u32; 4] {
    // The sums are small, so each fits the low quarter of its half, and the others are free for its neighbours' sums.
    let (ab, cd) = (_mm_or_si128(a, _mm_slli_epi64::<32>(b)), _mm_or_si128(c, _mm_slli_epi64::<32>(d)));
    sums(_mm_add_epi32(_mm_unpacklo_epi64(ab, cd), _mm_unpackhi_epi64(ab, cd)))
}

/// Makes the kernels for square blocks, one at a time and four at once.
macro_rules! sad {
    ($side:literal, $sad:ident, $sad_at:ident) => {
        #[target_feature(enable = "sse4.1")]
        pub fn $sad(block: &[u8], block_stride: usize, reference: &[u8], reference_stride: usize) -> u32 {
            let block = Pixels::<$side, $side>::of(block, block_stride);
            let reference = Pixels::<$side, $side>::of(reference, reference_stride);
            let mut sum = _mm_setzero_si128();
            for row in (0..$side).step_by(Pixels::<$side, $side>::ROWS_A_VECTOR) {
                sum = _mm_add_epi64(sum, _mm_sad_epu8(block.vector(row), reference.vector(row)));
            }
            sum_of_64(sum)
        }

        #[target_feature(enable = "sse4.1")]
        pub fn $sad_at(
            block: &[u8],
            block_stride: usize,
            reference: &[u8],
            at: [usize; 4],
            reference_stride: usize,
        ) -> [u32; 4] {
            let block = Pixels::<$side, $side>::of(block, block_stride);
            let [a, b, c, d] = Pixels::<$side, $side>::at(reference, at, reference_stride);
            let mut sums = [_mm_setzero_si128(); 4];
            for row in (0..$side).step_by(Pixels::<$side, $side>::ROWS_A_VECTOR) {
                let rows = block.vector(row);
                sums[0] = _mm_add_epi64(sums[0], _mm_sad_epu8(rows, a.vector(row)));
                sums[1] = _mm_add_epi64(sums[1], _mm_sad_epu8(rows, b.vector(row)));
                sums[2] = _mm_add_epi64(sums[2], _mm_sad_epu8(rows, c.vector(row)));
                sums[3] = _mm_add_epi64(sums[3], _mm_sad_epu8(rows, d.vector(row)));
            }
            sums_of_four(sums)
        }
    };
}

sad!(16, sad_16x16, sad_16x16_at);
sad!(8, sad_8x8, sad_8x8_at);
