//! The kernels for x86-64: 128-bit vectors up to SSE4.1, and 256-bit ones with AVX2.
//!
//! Pointers are used only in `pixels` and `coefficients`. All other code uses safe intrinsics in functions marked with
//! the instructions that they are compiled for; calling these is the unsafe part of the table.

mod coefficients;
mod compare;
mod loop_filter;
mod pixels;
mod predict;
mod quantize;
mod transform;

use super::Kernels;
use compare::{sad, satd, squares, squares::coefficient_error};
use loop_filter::{chroma, luma, simple};
use predict::{bilinear, sixtap, sixtap_wide};
use transform::{dc, forward, inverse, walsh};

/// The tables that this processor supports, the slower first.
pub fn available() -> impl Iterator<Item = &'static Kernels> {
    static SSE41: Kernels = SSE41_TABLE;
    static AVX2: Kernels = AVX2_TABLE;
    // Each instruction set that a function names implies all earlier ones, and so does the detection.
    let sse41 = is_x86_feature_detected!("sse4.1") && is_x86_feature_detected!("ssse3");
    let avx2 = is_x86_feature_detected!("avx2") && sse41;
    [(sse41, &SSE41), (avx2, &AVX2)].into_iter().filter_map(|(is_there, table)| is_there.then_some(table))
}

const SSE41_TABLE: Kernels = Kernels {
    name: "sse4.1",
    idct_add: inverse::idct_add,
    idct_add_pair: inverse::idct_add_pair,
    idct_add_four: inverse::idct_add_four,
    idct_dc_add: dc::idct_dc_add,
    idct_dc_add_pair: dc::idct_dc_add_pair,
    idct_dc_add_four: dc::idct_dc_add_four,
    inverse_walsh: walsh::inverse_walsh,
    forward_dct: forward::forward_dct,
    forward_dct_pair: forward::forward_dct_pair,
    forward_dct_four: forward::forward_dct_four,
    forward_walsh: walsh::forward_walsh,
    quantize: quantize::quantize,
    sixtap_16x16: sixtap::sixtap_16x16,
    sixtap_8x8: sixtap::sixtap::<8, 8, 13, 13>,
    sixtap_8x4: sixtap::sixtap::<8, 4, 13, 9>,
    sixtap_4x4: sixtap::sixtap::<4, 4, 9, 9>,
    bilinear_16x16: bilinear::bilinear_16x16,
    bilinear_8x8: bilinear::bilinear::<8, 8, 9, 9>,
    bilinear_8x4: bilinear::bilinear::<8, 4, 9, 5>,
    bilinear_4x4: bilinear::bilinear::<4, 4, 5, 5>,
    filter_left_edge: luma::left_edge,
    filter_upper_edge: luma::upper_edge,
    filter_inner_left_edges: luma::inner_left_edges,
    filter_inner_upper_edges: luma::inner_upper_edges,
    filter_left_edge_chroma: chroma::left_edge,
    filter_upper_edge_chroma: chroma::upper_edge,
    filter_inner_left_edge_chroma: chroma::inner_left_edge,
    filter_inner_upper_edge_chroma: chroma::inner_upper_edge,
    filter_left_edge_simply: simple::left_edge,
    filter_upper_edge_simply: simple::upper_edge,
    filter_inner_left_edges_simply: simple::inner_left_edges,
    filter_inner_upper_edges_simply: simple::inner_upper_edges,
    sad_16x16: sad::sad_16::<16>,
    sad_16x8: sad::sad_16::<8>,
    sad_8x16: sad::sad_8::<16>,
    sad_8x8: sad::sad_8::<8>,
    sad_4x4: sad::sad_4::<4>,
    sad_16x16_at: sad::sad_16_at::<16>,
    sad_16x8_at: sad::sad_16_at::<8>,
    sad_8x16_at: sad::sad_8_at::<16>,
    sad_8x8_at: sad::sad_8_at::<8>,
    sad_4x4_at: sad::sad_4_at::<4>,
    sse_16x16: squares::squares_16::<16>,
    sse_16x8: squares::squares_16::<8>,
    sse_8x16: squares::squares_8::<16>,
    sse_8x8: squares::squares_8::<8>,
    sse_4x4: squares::squares_4::<4>,
    moments_16x16: squares::moments_16::<16>,
    moments_8x8: squares::moments_8::<8>,
    moments_4x4: squares::moments_4::<4>,
    satd_16x16: satd::satd::<16, 16>,
    satd_8x8: satd::satd::<8, 8>,
    satd_4x4: satd::satd_4x4,
    sse_row: squares::squares_of_rows,
    coefficient_error,
};

const AVX2_TABLE: Kernels = Kernels {
    name: "avx2",
    idct_add_four: inverse::idct_add_four_avx2,
    forward_dct_four: forward::forward_dct_four_avx2,
    quantize: quantize::quantize_avx2,
    sixtap_16x16: sixtap_wide::sixtap_16x16,
    filter_inner_left_edges: luma::inner_left_edges_avx2,
    sse_16x16: squares::squares_16_avx2::<16>,
    sse_16x8: squares::squares_16_avx2::<8>,
    sse_8x16: squares::squares_8_avx2::<16>,
    sse_8x8: squares::squares_8_avx2::<8>,
    sse_4x4: squares::squares_4_avx2::<4>,
    moments_16x16: squares::moments_16_avx2::<16>,
    moments_8x8: squares::moments_8_avx2::<8>,
    moments_4x4: squares::moments_4_avx2::<4>,
    satd_16x16: satd::satd_16x16_avx2,
    satd_8x8: satd::satd_8x8_avx2,
    sse_row: squares::squares_of_rows_avx2,
    ..SSE41_TABLE
};
