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
