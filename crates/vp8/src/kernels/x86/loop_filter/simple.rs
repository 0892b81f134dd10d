//! The simple filter, for luma only.

use std::arch::x86_64::*;

use super::super::pixels::PixelsMut;
use super::filter::simple;
use super::transpose::{columns_of_pairs, pairs_of_columns, transpose_16x16};

#[target_feature(enable = "sse4.1")]
pub fn left_edge(luma: &mut [u8], at: usize, stride: usize, edge: u8) {
    let mut pixels = PixelsMut::<8, 16>::of(&mut luma[at - 4..], stride);
    let mut columns = columns_of_pairs([0, 2, 4, 6, 8, 10, 12, 14].map(|row| pixels.read().vector(row)));
    let [_, _, p1, p0, q0, q1, _, _] = columns;
    [columns[3], columns[4]] = simple([p1, p0, q0, q1], _mm_set1_epi8(edge as i8));
    for (pair, rows) in pairs_of_columns(columns).into_iter().enumerate() {
        pixels.store_8(2 * pair, 0, rows);
        pixels.store_8(2 * pair + 1, 0, _mm_unpackhi_epi64(rows, rows));
    }
}

#[target_feature(enable = "sse4.1")]
pub fn upper_edge(luma: &mut [u8], at: usize, stride: usize, edge: u8) {
    let mut pixels = PixelsMut::<16, 4>::of(&mut luma[at - 2 * stride..], stride);
    let rows = [0, 1, 2, 3].map(|row| pixels.read().load_16(row, 0));
    let [before, after] = simple(rows, _mm_set1_epi8(edge as i8));
    pixels.store_16(1, 0, before);
    pixels.store_16(2, 0, after);
}

#[target_feature(enable = "sse4.1")]
pub fn inner_left_edges(luma: &mut [u8], at: usize, stride: usize, edge: u8) {
    let mut pixels = PixelsMut::<16, 16>::of(&mut luma[at..], stride);
    let columns = transpose_16x16(std::array::from_fn(|row| pixels.read().load_16(row, 0)));
    let rows = transpose_16x16(filter_inner_edges(columns, edge));
    for (i, row) in rows.into_iter().enumerate() {
        pixels.store_16(i, 0, row);
    }
}

#[target_feature(enable = "sse4.1")]
pub fn inner_upper_edges(luma: &mut [u8], at: usize, stride: usize, edge: u8) {
    let mut pixels = PixelsMut::<16, 16>::of(&mut luma[at..], stride);
    let rows = filter_inner_edges(std::array::from_fn(|row| pixels.read().load_16(row, 0)), edge);
    for row in [3, 4, 7, 8, 11, 12] {
        pixels.store_16(row, 0, rows[row]);
    }
}

/// Filters sixteen lines of pixels between each group of four and the next.
#[inline]
#[target_feature(enable = "sse4.1")]
fn filter_inner_edges(mut lines: [__m128i; 16], edge: u8) -> [__m128i; 16] {
    let edge = _mm_set1_epi8(edge as i8);
    for i in [4, 8, 12] {
        [lines[i - 1], lines[i]] = simple([lines[i - 2], lines[i - 1], lines[i], lines[i + 1]], edge);
    }
    lines
}
