//! Difference metrics of two blocks.

pub mod sad;
pub mod satd;
pub mod squares;

use std::arch::x86_64::*;

/// The sum of a vector's four 32-bit numbers.
#[inline]
#[target_feature(enable = "sse2")]
fn sum_of_32(sums: __m128i) -> u32 {
    let halves = _mm_add_epi32(sums, _mm_unpackhi_epi64(sums, sums));
    _mm_cvtsi128_si32(_mm_add_epi32(halves, _mm_shuffle_epi32::<1>(halves))) as u32
}

/// The sum of the two halves of a wide vector.
#[inline]
#[target_feature(enable = "avx2")]
fn halves_of_32(sums: __m256i) -> __m128i {
    _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums))
}
