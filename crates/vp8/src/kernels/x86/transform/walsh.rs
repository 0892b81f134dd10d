//! The forward and inverse Walsh-Hadamard transforms of the luma blocks' first coefficients.

use std::arch::x86_64::*;

use super::super::super::Block;
use super::super::coefficients::{load_8, store_8};

/// One direction: two rows per vector in, two rows per vector out.
#[inline]
#[target_feature(enable = "sse4.1")]
fn pass([rows_01, rows_23]: [__m128i; 2]) -> [__m128i; 2] {
    let rows_32 = _mm_shuffle_epi32::<0b01_00_11_10>(rows_23);
    // Sums of the outer and of the inner rows, in the two halves, and likewise the differences.
    let (sums, differences) = (_mm_add_epi16(rows_01, rows_32), _mm_sub_epi16(rows_01, rows_32));
    let (outer, inner) = (_mm_unpacklo_epi64(sums, differences), _mm_unpackhi_epi64(sums, differences));
    [_mm_add_epi16(outer, inner), _mm_sub_epi16(outer, inner)]
}

/// Transposes rows to columns.
#[inline]
#[target_feature(enable = "sse4.1")]
fn transpose([rows_01, rows_23]: [__m128i; 2]) -> [__m128i; 2] {
    let (rows_02, rows_13) = (_mm_unpacklo_epi16(rows_01, rows_23), _mm_unpackhi_epi16(rows_01, rows_23));
    [_mm_unpacklo_epi16(rows_02, rows_13), _mm_unpackhi_epi16(rows_02, rows_13)]
}

/// Both directions.
#[inline]
#[target_feature(enable = "sse4.1")]
fn transform(coefficients: &Block) -> [__m128i; 2] {
    transpose(pass(transpose(pass([load_8(coefficients, 0), load_8(coefficients, 1)]))))
}

#[inline]
#[target_feature(enable = "sse4.1")]
fn store([upper, lower]: [__m128i; 2]) -> Block {
    let mut block = [0; 16];
    store_8(&mut block, 0, upper);
    store_8(&mut block, 1, lower);
    block
}

#[target_feature(enable = "sse4.1")]
pub fn inverse_walsh(coefficients: &Block) -> Block {
    store(transform(coefficients).map(|values| _mm_srai_epi16::<3>(_mm_add_epi16(values, _mm_set1_epi16(3)))))
}

#[target_feature(enable = "sse4.1")]
pub fn forward_walsh(coefficients: &Block) -> Block {
    let [upper, lower] = transform(coefficients);
    // Half, rounded towards zero: negative numbers are increased by one before they are rounded down. The first one is
    // rounded up.
    let is_negative = |values| _mm_srli_epi16::<15>(values);
    let up = _mm_or_si128(is_negative(upper), _mm_cvtsi32_si128(1));
    let halves = [_mm_add_epi16(upper, up), _mm_add_epi16(lower, is_negative(lower))];
    store(halves.map(|values| _mm_srai_epi16::<1>(values)))
}
