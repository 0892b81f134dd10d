//! The normal filter of luma.

use std::arch::x86_64::*;

use super::super::super::EdgeLimits;
use super::super::pixels::PixelsMut;
use super::filter::{Limits, macroblock, masks, subblock};
use super::transpose::{columns_of_halves, columns_of_pairs, halves_of_columns, pairs_of_columns, transpose_16x16};

#[target_feature(enable = "sse4.1")]
pub fn left_edge(luma: &mut [u8], at: usize, stride: usize, limits: EdgeLimits) {
    let mut pixels = PixelsMut::<8, 16>::of(&mut luma[at - 4..], stride);
    let mut columns = columns_of_pairs([0, 2, 4, 6, 8, 10, 12, 14].map(|row| pixels.read().vector(row)));
    let filtered = macroblock(columns, masks(columns, Limits::new(limits)));
    columns[1..7].copy_from_slice(&filtered);
    for (pair, rows) in pairs_of_columns(columns).into_iter().enumerate() {
        pixels.store_8(2 * pair, 0, rows);
        pixels.store_8(2 * pair + 1, 0, _mm_unpackhi_epi64(rows, rows));
    }
}

#[target_feature(enable = "sse4.1")]
pub fn upper_edge(luma: &mut [u8], at: usize, stride: usize, limits: EdgeLimits) {
    let mut pixels = PixelsMut::<16, 8>::of(&mut luma[at - 4 * stride..], stride);
    let rows = [0, 1, 2, 3, 4, 5, 6, 7].map(|row| pixels.read().load_16(row, 0));
    for (i, row) in macroblock(rows, masks(rows, Limits::new(limits))).into_iter().enumerate() {
        pixels.store_16(1 + i, 0, row);
    }
}

#[target_feature(enable = "sse4.1")]
pub fn inner_left_edges(luma: &mut [u8], at: usize, stride: usize, limits: EdgeLimits) {
    let mut pixels = PixelsMut::<16, 16>::of(&mut luma[at..], stride);
    let columns = transpose_16x16(std::array::from_fn(|row| pixels.read().load_16(row, 0)));
    let rows = transpose_16x16(filter_inner_edges::<false>(columns, limits));
    for (i, row) in rows.into_iter().enumerate() {
        pixels.store_16(i, 0, row);
    }
}

#[target_feature(enable = "avx2")]
pub fn inner_left_edges_avx2(luma: &mut [u8], at: usize, stride: usize, limits: EdgeLimits) {
    let mut pixels = PixelsMut::<16, 16>::of(&mut luma[at..], stride);
    let columns = columns_of_halves(std::array::from_fn(|row| {
        let (upper, lower) = (pixels.read().load_16(row, 0), pixels.read().load_16(row + 8, 0));
        _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(upper), lower)
    }));
    let rows = halves_of_columns(filter_inner_edges::<true>(columns, limits));
    for (i, rows) in rows.into_iter().enumerate() {
        pixels.store_16(i, 0, _mm256_castsi256_si128(rows));
        pixels.store_16(i + 8, 0, _mm256_extracti128_si256::<1>(rows));
    }
}

#[target_feature(enable = "sse4.1")]
pub fn inner_upper_edges(luma: &mut [u8], at: usize, stride: usize, limits: EdgeLimits) {
    let mut pixels = PixelsMut::<16, 16>::of(&mut luma[at..], stride);
    let limits = Limits::new(limits);
    let [mut a, mut b, mut c, mut d] = [0, 1, 2, 3].map(|row| pixels.read().load_16(row, 0));
    for edge in 1..4 {
        let [e, f, g, h] = [0, 1, 2, 3].map(|row| pixels.read().load_16(4 * edge + row, 0));
        let across = [a, b, c, d, e, f, g, h];
        let filtered = subblock(across, masks(across, limits));
        for (i, row) in filtered.into_iter().enumerate() {
            pixels.store_16(4 * edge - 2 + i, 0, row);
        }
        (a, b, c, d) = (filtered[2], filtered[3], g, h);
    }
}

/// Filters sixteen columns of pixels between each group of four and the next. Each kernel that needs it has its own
/// copy, since the compiler inlines a function with a single caller, and otherwise passes sixteen vectors through
/// memory.
#[inline]
#[target_feature(enable = "sse4.1")]
fn filter_inner_edges<const WIDE: bool>(columns: [__m128i; 16], limits: EdgeLimits) -> [__m128i; 16] {
    let limits = Limits::new(limits);
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = columns;
    let across = [a, b, c, d, e, f, g, h];
    let [c, d, e, f] = subblock(across, masks(across, limits));
    let across = [e, f, g, h, i, j, k, l];
    let [g, h, i, j] = subblock(across, masks(across, limits));
    let across = [i, j, k, l, m, n, o, p];
    let [k, l, m, n] = subblock(across, masks(across, limits));
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
}
