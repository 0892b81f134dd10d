//! Residuals of blocks with only their first coefficient: one value for all pixels of a block.

use std::arch::x86_64::*;

use super::super::pixels::PixelsMut;

/// The values added to and subtracted from pixels: one of the two is 0. The residuals of up to four blocks, four bytes
/// for each.
#[inline]
#[target_feature(enable = "sse4.1")]
fn residual(dc: [i16; 4]) -> (__m128i, __m128i) {
    let dc = _mm_setr_epi16(dc[0], dc[1], dc[2], dc[3], 0, 0, 0, 0);
    let residual = _mm_srai_epi16::<3>(_mm_add_epi16(dc, _mm_set1_epi16(4)));
    let negative = _mm_sub_epi16(_mm_setzero_si128(), residual);
    let four_times = _mm_setr_epi8(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    let spread = |values| _mm_shuffle_epi8(_mm_packus_epi16(values, values), four_times);
    (spread(residual), spread(negative))
}

#[target_feature(enable = "sse4.1")]
pub fn idct_dc_add(dc: i16, pixels: &mut [u8], stride: usize) {
    let mut pixels = PixelsMut::<4, 4>::of(pixels, stride);
    let (more, less) = residual([dc; 4]);
    for row in 0..4 {
        let sum = _mm_subs_epu8(_mm_adds_epu8(pixels.read().load_4(row, 0), more), less);
        pixels.store_4(row, 0, sum);
    }
}

#[target_feature(enable = "sse4.1")]
pub fn idct_dc_add_pair(dc: [i16; 2], pixels: &mut [u8], stride: usize) {
    let mut pixels = PixelsMut::<8, 4>::of(pixels, stride);
    let (more, less) = residual([dc[0], dc[1], 0, 0]);
    for row in 0..4 {
        let sum = _mm_subs_epu8(_mm_adds_epu8(pixels.read().load_8(row, 0), more), less);
        pixels.store_8(row, 0, sum);
    }
}

#[target_feature(enable = "sse4.1")]
pub fn idct_dc_add_four(dc: [i16; 4], pixels: &mut [u8], stride: usize) {
    let mut pixels = PixelsMut::<16, 4>::of(pixels, stride);
    let (more, less) = residual(dc);
    for row in 0..4 {
        let sum = _mm_subs_epu8(_mm_adds_epu8(pixels.read().load_16(row, 0), more), less);
        pixels.store_16(row, 0, sum);
    }
}
