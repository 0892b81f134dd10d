//! The kernels in plain Rust, which define the results.

mod compare;
mod loop_filter;
mod predict;
mod quantize;
mod transform;

use super::Kernels;

/// The table of these kernels.
pub const TABLE: Kernels = Kernels {
    name: "scalar",
    idct_add: transform::idct_add,
    idct_add_pair: transform::idct_add_beside::<2>,
    idct_add_four: transform::idct_add_beside::<4>,
    idct_dc_add: transform::idct_dc_add,
    idct_dc_add_pair: transform::idct_dc_add_beside::<2>,
    idct_dc_add_four: transform::idct_dc_add_beside::<4>,
    inverse_walsh: transform::inverse_walsh,
    forward_dct: transform::forward_dct,
    forward_dct_pair: transform::forward_dct_beside::<2>,
    forward_dct_four: transform::forward_dct_beside::<4>,
    forward_walsh: transform::forward_walsh,
    quantize: quantize::quantize,
    sixtap_16x16: predict::sixtap::<16, 16>,
    sixtap_8x8: predict::sixtap::<8, 8>,
    sixtap_8x4: predict::sixtap::<8, 4>,
    sixtap_4x4: predict::sixtap::<4, 4>,
    bilinear_16x16: predict::bilinear::<16, 16>,
    bilinear_8x8: predict::bilinear::<8, 8>,
    bilinear_8x4: predict::bilinear::<8, 4>,
    bilinear_4x4: predict::bilinear::<4, 4>,
    filter_left_edge: loop_filter::left_edge,
    filter_upper_edge: loop_filter::upper_edge,
    filter_inner_left_edges: loop_filter::inner_left_edges,
    filter_inner_upper_edges: loop_filter::inner_upper_edges,
    filter_left_edge_chroma: loop_filter::left_edge_chroma,
    filter_upper_edge_chroma: loop_filter::upper_edge_chroma,
    filter_inner_left_edge_chroma: loop_filter::inner_left_edge_chroma,
    filter_inner_upper_edge_chroma: loop_filter::inner_upper_edge_chroma,
    filter_left_edge_simply: loop_filter::left_edge_simply,
    filter_upper_edge_simply: loop_filter::upper_edge_simply,
    filter_inner_left_edges_simply: loop_filter::inner_left_edges_simply,
    filter_inner_upper_edges_simply: loop_filter::inner_upper_edges_simply,
    sad_16x16: compare::sad::<16, 16>,
    sad_8x8: compare::sad::<8, 8>,
    sad_16x16_at: compare::sad_at::<16, 16>,
    sad_8x8_at: compare::sad_at::<8, 8>,
    satd_16x16: compare::satd::<16, 16>,
    satd_8x8: compare::satd::<8, 8>,
    satd_4x4: compare::satd::<4, 4>,
};
