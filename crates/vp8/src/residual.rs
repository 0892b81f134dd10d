//! Adding residuals to the prediction (RFC 6386 section 14).

use crate::image::PlanesMut;
use crate::kernels::{Block, Kernels};
use crate::syntax::Coefficients;
use crate::syntax::tokens::Y2;

/// Moves the luma blocks' first coefficients, which the Y2 block codes, to their blocks.
#[inline]
pub fn distribute_y2(kernels: &Kernels, coefficients: &mut Coefficients) {
    let firsts = kernels.inverse_walsh(&coefficients.blocks[Y2]);
    for (block, first) in coefficients.blocks.iter_mut().zip(firsts) {
        block[0] = first;
    }
}

/// Adds the luma of a macroblock whose first pixel is at index `at`.
#[inline]
pub fn add_luma(kernels: &Kernels, coefficients: &Coefficients, plane: &mut [u8], at: usize, stride: usize) {
    for (row, first) in [0, 4, 8, 12].into_iter().enumerate() {
        let pixels = &mut plane[at + 4 * row * stride..];
        let (ends, _) = coefficients.ends[first..].split_first_chunk::<4>().expect("luma is sixteen blocks");
        let (blocks, _) = coefficients.blocks[first..].split_first_chunk::<4>().expect("luma is sixteen blocks");
        if ends.iter().all(|&end| end <= 1) {
            let dc = [blocks[0][0], blocks[1][0], blocks[2][0], blocks[3][0]];
            if dc != [0; 4] {
                kernels.idct_dc_add_four(dc, pixels, stride);
            }
        } else {
            kernels.idct_add_four(blocks, pixels, stride);
        }
    }
}

/// Adds the chroma of the macroblock in a column and row.
#[inline]
pub fn add_chroma(
    kernels: &Kernels,
    coefficients: &Coefficients,
    planes: &mut PlanesMut<'_>,
    column: usize,
    row: usize,
) {
    let stride = planes.stride / 2;
    let at = row * 8 * stride + column * 8;
    for (first, plane) in [(16, &mut *planes.u), (20, &mut *planes.v)] {
        for half in 0..2 {
            let first = first + 2 * half;
            let (ends, _) = coefficients.ends[first..].split_first_chunk::<2>().expect("chroma is eight blocks");
            let (blocks, _) = coefficients.blocks[first..].split_first_chunk::<2>().expect("chroma is eight blocks");
            let pixels = &mut plane[at + 4 * half * stride..];
            match ends {
                [0, 0] => {}
                [0 | 1, 0 | 1] => kernels.idct_dc_add_pair([blocks[0][0], blocks[1][0]], pixels, stride),
                _ => kernels.idct_add_pair(blocks, pixels, stride),
            }
        }
    }
}

/// Adds a luma subblock to the pixels that start at index `at`.
#[inline]
pub fn add_subblock(kernels: &Kernels, block: &Block, end: u8, plane: &mut [u8], at: usize, stride: usize) {
    match end {
        0 => {}
        1 => kernels.idct_dc_add(block[0], &mut plane[at..], stride),
        _ => kernels.idct_add(block, &mut plane[at..], stride),
    }
}
