//! Interpolation in a reference.
//!
//! A filter with several taps uses `pmaddubsw` on adjacent bytes: it multiplies one by one tap and the next by another,
//! and adds the products in sixteen bits.

pub mod bilinear;
pub mod sixtap;
pub mod sixtap_wide;

use std::arch::x86_64::*;

use super::pixels::{Pixels, PixelsMut};

/// Two taps for every pair of bytes.
#[inline]
#[target_feature(enable = "sse2")]
fn two_taps(first: i8, second: i8) -> __m128i {
    _mm_set1_epi16(i16::from_le_bytes([first as u8, second as u8]))
}

/// The slice of a reference that starts `left` pixels before the one at `at` and `above` rows over it.
#[inline(always)]
fn starting(reference: &[u8], at: usize, stride: usize, left: usize, above: usize) -> &[u8] {
    // A stride so large that this overflows is rejected with the block, wherever it would start.
    &reference[at - left.wrapping_add(above.wrapping_mul(stride))..]
}

/// The pixels of a row of 4, 8 or 16.
#[inline]
#[target_feature(enable = "sse2")]
fn load<const COLUMNS: usize, const ROWS: usize>(reference: &Pixels<COLUMNS, ROWS>, row: usize) -> __m128i {
    match COLUMNS {
        4 => reference.load_4(row, 0),
        8 => reference.load_8(row, 0),
        _ => reference.load_16(row, 0),
    }
}

/// Stores a row of 4, 8 or 16 pixels.
#[inline]
#[target_feature(enable = "sse2")]
fn store<const COLUMNS: usize, const ROWS: usize>(
    prediction: &mut PixelsMut<COLUMNS, ROWS>,
    row: usize,
    pixels: __m128i,
) {
    match COLUMNS {
        4 => prediction.store_4(row, 0, pixels),
        8 => prediction.store_8(row, 0, pixels),
        _ => prediction.store_16(row, 0, pixels),
    }
}

/// Prediction with a whole-pixel vector is a copy.
#[inline]
#[target_feature(enable = "sse2")]
fn copy<const COLUMNS: usize, const ROWS: usize>(
    reference: &Pixels<COLUMNS, ROWS>,
    prediction: &mut PixelsMut<COLUMNS, ROWS>,
) {
    for row in 0..ROWS {
        store(prediction, row, load(reference, row));
    }
}
