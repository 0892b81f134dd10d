//! The normal filter of chroma: eight positions of each plane in one vector.

use std::arch::x86_64::*;

use super::super::super::EdgeLimits;
use super::super::pixels::PixelsMut;
use super::filter::{Limits, macroblock, masks, subblock};
use super::transpose::{columns_of_pairs, pairs_of_columns};

#[target_feature(enable = "sse4.1")]
pub fn left_edge(u: &mut [u8], v: &mut [u8], at: usize, stride: usize, limits: EdgeLimits) {
    filter_columns(u, v, at - 4, stride, |columns| {
        let filtered = macroblock(*columns, masks(*columns, Limits::new(limits)));
        columns[1..7].copy_from_slice(&filtered);
    });
}

#[target_feature(enable = "sse4.1")]
pub fn inner_left_edge(u: &mut [u8], v: &mut [u8], at: usize, stride: usize, limits: EdgeLimits) {
    filter_columns(u, v, at, stride, |columns| {
        let filtered = subblock(*columns, masks(*columns, Limits::new(limits)));
        columns[2..6].copy_from_slice(&filtered);
    });
}

/// Filters the eight columns from `start` on, each with the rows of both planes.
#[inline]
#[target_feature(enable = "sse4.1")]
fn filter_columns(u: &mut [u8], v: &mut [u8], start: usize, stride: usize, filter: impl Fn(&mut [__m128i; 8])) {
    let mut u = PixelsMut::<8, 8>::of(&mut u[start..], stride);
    let mut v = PixelsMut::<8, 8>::of(&mut v[start..], stride);
    let pairs = std::array::from_fn(|i| if i < 4 { u.read().vector(2 * i) } else { v.read().vector(2 * i - 8) });
    let mut columns = columns_of_pairs(pairs);
    filter(&mut columns);
    for (i, rows) in pairs_of_columns(columns).into_iter().enumerate() {
        let plane = if i < 4 { &mut u } else { &mut v };
        plane.store_8(2 * i % 8, 0, rows);
        plane.store_8(2 * i % 8 + 1, 0, _mm_unpackhi_epi64(rows, rows));
    }
}

#[target_feature(enable = "sse4.1")]
pub fn upper_edge(u: &mut [u8], v: &mut [u8], at: usize, stride: usize, limits: EdgeLimits) {
    filter_rows(u, v, at - 4 * stride, stride, 1, |rows| macroblock(rows, masks(rows, Limits::new(limits))));
}

#[target_feature(enable = "sse4.1")]
pub fn inner_upper_edge(u: &mut [u8], v: &mut [u8], at: usize, stride: usize, limits: EdgeLimits) {
    filter_rows(u, v, at, stride, 2, |rows| subblock(rows, masks(rows, Limits::new(limits))));
}

/// Stores the filtered rows from `first` on, of the eight rows from `start` on, each with the columns of both planes.
#[inline]
#[target_feature(enable = "sse4.1")]
fn filter_rows<const CHANGED: usize>(
    u: &mut [u8],
    v: &mut [u8],
    start: usize,
    stride: usize,
    first: usize,
    filter: impl Fn([__m128i; 8]) -> [__m128i; CHANGED],
) {
    let mut u = PixelsMut::<8, 8>::of(&mut u[start..], stride);
    let mut v = PixelsMut::<8, 8>::of(&mut v[start..], stride);
    let rows = std::array::from_fn(|row| _mm_unpacklo_epi64(u.read().load_8(row, 0), v.read().load_8(row, 0)));
    for (i, row) in filter(rows).into_iter().enumerate() {
        u.store_8(first + i, 0, row);
        v.store_8(first + i, 0, _mm_unpackhi_epi64(row, row));
    }
}
