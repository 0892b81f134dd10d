//! Columns of pixels as vectors, and back.
//!
//! Interleaving the bytes of the first half of some vectors with those of the second rotates, by one place, the bits of
//! the number that says where each byte is: those that count vectors followed by those that count the bytes in one. For
//! sixteen rows of sixteen pixels that is row times sixteen plus column, and four turns make it column times sixteen
//! plus row.

use std::arch::x86_64::*;

/// One turn: interleaves each vector of the first half with its counterpart in the second.
#[inline]
#[target_feature(enable = "sse2")]
fn interleave<const COUNT: usize>(vectors: [__m128i; COUNT]) -> [__m128i; COUNT] {
    let mut interleaved = vectors;
    for i in 0..COUNT / 2 {
        interleaved[2 * i] = _mm_unpacklo_epi8(vectors[i], vectors[i + COUNT / 2]);
        interleaved[2 * i + 1] = _mm_unpackhi_epi8(vectors[i], vectors[i + COUNT / 2]);
    }
    interleaved
}

/// The sixteen columns of sixteen rows, or the rows of the columns.
#[inline]
#[target_feature(enable = "sse2")]
pub fn transpose_16x16(rows: [__m128i; 16]) -> [__m128i; 16] {
    interleave(interleave(interleave(interleave(rows))))
}

/// The eight columns of sixteen rows, two of which are in each vector.
#[inline]
#[target_feature(enable = "sse2")]
pub fn columns_of_pairs(rows: [__m128i; 8]) -> [__m128i; 8] {
    interleave(interleave(interleave(interleave(rows))))
}

/// The sixteen rows, two in each vector, of eight columns.
#[inline]
#[target_feature(enable = "sse2")]
pub fn pairs_of_columns(columns: [__m128i; 8]) -> [__m128i; 8] {
    interleave(interleave(interleave(columns)))
}

/// One turn within each half of wide vectors.
#[inline]
#[target_feature(enable = "avx2")]
fn interleave_wide(vectors: [__m256i; 8]) -> [__m256i; 8] {
    let mut interleaved = vectors;
    for i in 0..4 {
        interleaved[2 * i] = _mm256_unpacklo_epi8(vectors[i], vectors[i + 4]);
        interleaved[2 * i + 1] = _mm256_unpackhi_epi8(vectors[i], vectors[i + 4]);
    }
    interleaved
}

/// The sixteen columns of sixteen rows, of which each vector has one of the upper eight and its counterpart among the
/// lower eight: half the instructions of [`transpose_16x16`].
#[inline]
#[target_feature(enable = "avx2")]
pub fn columns_of_halves(rows: [__m256i; 8]) -> [__m128i; 16] {
    // Three turns leave each vector with two columns, of the upper rows in one half, of the lower rows in the other.
    let pairs = interleave_wide(interleave_wide(interleave_wide(rows)));
    let pairs = pairs.map(|pair| _mm256_permute4x64_epi64::<0b11_01_10_00>(pair));
    std::array::from_fn(|i| match i % 2 {
        0 => _mm256_castsi256_si128(pairs[i / 2]),
        _ => _mm256_extracti128_si256::<1>(pairs[i / 2]),
    })
}

/// And back.
#[inline]
#[target_feature(enable = "avx2")]
pub fn halves_of_columns(columns: [__m128i; 16]) -> [__m256i; 8] {
    let pairs = std::array::from_fn(|i| {
        let pair = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(columns[2 * i]), columns[2 * i + 1]);
        _mm256_permute4x64_epi64::<0b11_01_10_00>(pair)
    });
    interleave_wide(interleave_wide(interleave_wide(interleave_wide(pairs))))
}
