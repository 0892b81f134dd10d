//! Quantisation: see [`BlockQuantizer`](super::super::BlockQuantizer) for the division by multiplication.

use std::arch::x86_64::*;

use super::super::{Block, BlockQuantizer, LARGEST_LEVEL};
use super::coefficients::{bytes, load_8, load_8_unsigned, load_16, load_16_unsigned, store_8, store_16};

/// The coefficient at each position of the zigzag scan (RFC 6386 section 13).
const SCAN: [u8; 16] = [0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15];

/// A bit for each scan position, from a byte per coefficient that is 0 if the level is not.
#[inline]
#[target_feature(enable = "sse4.1")]
fn coded(is_zero: __m128i) -> u16 {
    !_mm_movemask_epi8(_mm_shuffle_epi8(is_zero, bytes(&SCAN))) as u16
}

/// The levels of half the coefficients, stored with the restored coefficients.
#[inline]
#[target_feature(enable = "sse4.1")]
fn quantize_half(
    coefficients: &Block,
    quantizer: &BlockQuantizer,
    levels: &mut Block,
    restored: &mut Block,
    half: usize,
) -> __m128i {
    let coefficient = load_8(coefficients, half);
    // The magnitude of the most negative number does not fit a signed one.
    let magnitude = _mm_min_epu16(_mm_abs_epi16(coefficient), _mm_set1_epi16(i16::MAX));
    let is_in_zero_bin = _mm_cmpgt_epi16(load_8(&quantizer.zero_bins, half), magnitude);
    let rounded = _mm_adds_epi16(magnitude, load_8(&quantizer.rounding, half));
    let sum = _mm_add_epi16(_mm_mulhi_epu16(rounded, load_8_unsigned(&quantizer.multipliers, half)), rounded);
    let quotient = _mm_mulhi_epu16(sum, load_8_unsigned(&quantizer.scales, half));
    let level = _mm_andnot_si128(is_in_zero_bin, _mm_min_epi16(quotient, _mm_set1_epi16(LARGEST_LEVEL)));
    let level = _mm_sign_epi16(level, coefficient);
    store_8(levels, half, level);
    store_8(restored, half, _mm_mullo_epi16(level, load_8(&quantizer.steps, half)));
    level
}

#[target_feature(enable = "sse4.1")]
pub fn quantize(coefficients: &Block, quantizer: &BlockQuantizer, levels: &mut Block, restored: &mut Block) -> u16 {
    let low = quantize_half(coefficients, quantizer, levels, restored, 0);
    let high = quantize_half(coefficients, quantizer, levels, restored, 1);
    coded(_mm_cmpeq_epi8(_mm_packs_epi16(low, high), _mm_setzero_si128()))
}

#[target_feature(enable = "avx2")]
pub fn quantize_avx2(
    coefficients: &Block,
    quantizer: &BlockQuantizer,
    levels: &mut Block,
    restored: &mut Block,
) -> u16 {
    let coefficient = load_16(coefficients);
    let magnitude = _mm256_min_epu16(_mm256_abs_epi16(coefficient), _mm256_set1_epi16(i16::MAX));
    let is_in_zero_bin = _mm256_cmpgt_epi16(load_16(&quantizer.zero_bins), magnitude);
    let rounded = _mm256_adds_epi16(magnitude, load_16(&quantizer.rounding));
    let sum = _mm256_add_epi16(_mm256_mulhi_epu16(rounded, load_16_unsigned(&quantizer.multipliers)), rounded);
    let quotient = _mm256_mulhi_epu16(sum, load_16_unsigned(&quantizer.scales));
    let level = _mm256_andnot_si256(is_in_zero_bin, _mm256_min_epi16(quotient, _mm256_set1_epi16(LARGEST_LEVEL)));
    let level = _mm256_sign_epi16(level, coefficient);
    store_16(levels, level);
    store_16(restored, _mm256_mullo_epi16(level, load_16(&quantizer.steps)));
    let is_zero = _mm256_cmpeq_epi16(level, _mm256_setzero_si256());
    coded(_mm_packs_epi16(_mm256_castsi256_si128(is_zero), _mm256_extracti128_si256::<1>(is_zero)))
}
