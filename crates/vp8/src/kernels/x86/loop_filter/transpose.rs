//! Transposes columns of pixels to vectors, and back.
//!
//! Interleaving the bytes of the first half of a set of vectors with those of the second half rotates the bits of each
//! byte's position by one: the position is the vector's index followed by the byte's index in the vector. For sixteen
//! rows of sixteen pixels that is row times sixteen plus column, and four rotations make it column times sixteen plus
//! row.

use std::arch::x86_64::*;

/// One rotation: interleaves each vector of the first half with its counterpart in the second.
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

/// The eight columns of sixteen rows; each vector holds two of the rows.
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

/// One rotation within each half of wide vectors.
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

/// The sixteen columns of sixteen rows; each vector holds one of the upper eight rows and its counterpart among the
/// lower eight: half the instructions of [`transpose_16x16`].
#[inline]
#[target_feature(enable = "avx2")]
pub fn columns_of_halves(rows: [__m256i; 8]) -> [__m128i; 16] {
    // After three rotations each vector holds two columns, with the upper rows in one half and the lower rows in the
    // other.
    let pairs = interleave_wide(interleave_wide(interleave_wide(rows)));
    let pairs = pairs.map(|pair| _mm256_permute4x64_epi64::<0b11_01_10_00>(pair));
    std::array::from_fn(|i| match i % 2 {
        0 => _mm256_castsi256_si128(pairs[i / 2]),
        _ => _mm256_extracti128_si256::<1>(pairs[i / 2]),
    })
}

/// The inverse.
#[inline]
#[target_feature(enable = "avx2")]
pub fn halves_of_columns(columns: [__m128i; 16]) -> [__m256i; 8] {
    let pairs = std::array::from_fn(|i| {
        let pair = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(columns[2 * i]), columns[2 * i + 1]);
        _mm256_permute4x64_epi64::<0b11_01_10_00>(pair)
    });
    interleave_wide(interleave_wide(interleave_wide(interleave_wide(pairs))))
}
