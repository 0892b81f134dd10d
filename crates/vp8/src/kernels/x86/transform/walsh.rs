//! The Walsh-Hadamard transform of the luma blocks' first coefficients, both ways.

use std::arch::x86_64::*;

use super::super::super::Block;
use super::super::coefficients::{load_8, store_8};

/// One direction: from two rows a vector to two rows a vector.
#[inline]
#[target_feature(enable = "sse4.1")]
fn pass([rows_01, rows_23]: [__m128i; 2]) -> [__m128i; 2] {
    let rows_32 = _mm_shuffle_epi32::<0b01_00_11_10>(rows_23);
    // The outer rows' sums and the inner rows', in the two halves, and so the differences.
    let (sums, differences) = (_mm_add_epi16(rows_01, rows_32), _mm_sub_epi16(rows_01, rows_32));
    let (outer, inner) = (_mm_unpacklo_epi64(sums, differences), _mm_unpackhi_epi64(sums, differences));
    [_mm_add_epi16(outer, inner), _mm_sub_epi16(outer, inner)]
}

/// Rows become columns.
#[inline]
#[target_feature(enable = "sse4.1")]
fn transpose([rows_01, rows_23]: [__m128i; 2]) -> [__m128i; 2] {
    let (rows_02, rows_13) = (_mm_unpacklo_epi16(rows_01, rows_23), _mm_unpackhi_epi16(rows_01, rows_23));
    [_mm_unpacklo_epi16(rows_02, rows_13), _mm_unpackhi_epi16(rows_02, rows_13)]
}

/// Both directions, and what is then made of each value.
#[inline]
#[target_feature(enable = "sse4.1")]
fn transform(coefficients: &Block, scale: impl Fn(__m128i) -> __m128i) -> Block {
    let down = transpose(pass([load_8(coefficients, 0), load_8(coefficients, 1)]));
    let [upper, lower] = transpose(pass(down));
    let mut transformed = [0; 16];
    store_8(&mut transformed, 0, scale(upper));
    store_8(&mut transformed, 1, scale(lower));
    transformed
}

#[target_feature(enable = "sse4.1")]
pub fn inverse_walsh(coefficients: &Block) -> Block {
    transform(coefficients, |values| _mm_srai_epi16::<3>(_mm_add_epi16(values, _mm_set1_epi16(3))))
}

#[target_feature(enable = "sse4.1")]
pub fn forward_walsh(coefficients: &Block) -> Block {
    // Half, rounded towards zero: one more, if negative, before it is rounded down.
    transform(coefficients, |values| _mm_srai_epi16::<1>(_mm_add_epi16(values, _mm_srli_epi16::<15>(values))))
}
