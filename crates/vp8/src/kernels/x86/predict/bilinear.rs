//! The bilinear filters, eight columns at a time.

use std::arch::x86_64::*;

use super::super::super::Fraction;
use super::super::pixels::{Pixels, PixelsMut};
use super::{copy, load, starting, store, two_taps};

/// The weights of two neighbours, in eighths, for every pair of bytes.
#[inline]
#[target_feature(enable = "sse2")]
fn weights(eighths: usize) -> __m128i {
    two_taps(8 - eighths as i8, eighths as i8)
}

/// Eight interpolated pixels, in both halves, from the low halves of two vectors.
#[inline]
#[target_feature(enable = "sse4.1")]
fn between(near: __m128i, far: __m128i, weights: __m128i) -> __m128i {
    let sums = _mm_maddubs_epi16(_mm_unpacklo_epi8(near, far), weights);
    // After multiplication by 2^12, `pmulhrsw` divides by 8 and rounds to the nearest, halves up.
    let filtered = _mm_mulhrs_epi16(sums, _mm_set1_epi16(1 << 12));
    _mm_packus_epi16(filtered, filtered)
}

/// Horizontally interpolates a row of 4 or 8 pixels from a row with one more.
#[inline]
#[target_feature(enable = "sse4.1")]
fn across<const COLUMNS: usize, const READ: usize, const ROWS: usize>(
    reference: &Pixels<READ, ROWS>,
    row: usize,
    weights: __m128i,
) -> __m128i {
    match COLUMNS {
        4 => between(reference.load_4(row, 0), reference.load_4(row, 1), weights),
        _ => between(reference.load_8(row, 0), reference.load_8(row, 1), weights),
    }
}

/// Filters vertically; `row` gives each row from the block's first to the one after its last.
#[inline]
#[target_feature(enable = "sse4.1")]
fn down<const COLUMNS: usize, const ROWS: usize>(
    eighths: usize,
    row: impl Fn(usize) -> __m128i,
    prediction: &mut PixelsMut<COLUMNS, ROWS>,
) {
    let weights = weights(eighths);
    let mut upper = row(0);
    for i in 0..ROWS {
        let lower = row(i + 1);
        store(prediction, i, between(upper, lower, weights));
        upper = lower;
    }
}

/// The kernel for blocks of 4 or 8 columns. `COLUMNS_READ` and `ROWS_READ` are one larger than the block.
#[target_feature(enable = "sse4.1")]
pub fn bilinear<const COLUMNS: usize, const ROWS: usize, const COLUMNS_READ: usize, const ROWS_READ: usize>(
    reference: &[u8],
    at: usize,
    reference_stride: usize,
    fraction: Fraction,
    prediction: &mut [u8],
    stride: usize,
) {
    let mut prediction = PixelsMut::<COLUMNS, ROWS>::of(prediction, stride);
    let reference = starting(reference, at, reference_stride, 0, 0);
    match (fraction.x(), fraction.y()) {
        (0, 0) => copy(&Pixels::<COLUMNS, ROWS>::of(reference, reference_stride), &mut prediction),
        (x, 0) => {
            let reference = Pixels::<COLUMNS_READ, ROWS>::of(reference, reference_stride);
            let weights = weights(x);
            for row in 0..ROWS {
                store(&mut prediction, row, across::<COLUMNS, COLUMNS_READ, ROWS>(&reference, row, weights));
            }
        }
        (0, y) => {
            let reference = Pixels::<COLUMNS, ROWS_READ>::of(reference, reference_stride);
            down(y, |row| load(&reference, row), &mut prediction);
        }
        (x, y) => {
            let reference = Pixels::<COLUMNS_READ, ROWS_READ>::of(reference, reference_stride);
            let weights = weights(x);
            down(y, |row| across::<COLUMNS, COLUMNS_READ, ROWS_READ>(&reference, row, weights), &mut prediction);
        }
    }
}

/// The kernel for 16x16 pixels, eight columns at a time.
#[target_feature(enable = "sse4.1")]
pub fn bilinear_16x16(
    reference: &[u8],
    at: usize,
    reference_stride: usize,
    fraction: Fraction,
    prediction: &mut [u8],
    stride: usize,
) {
    bilinear::<8, 16, 9, 17>(reference, at, reference_stride, fraction, prediction, stride);
    bilinear::<8, 16, 9, 17>(reference, at + 8, reference_stride, fraction, &mut prediction[8..], stride);
}
