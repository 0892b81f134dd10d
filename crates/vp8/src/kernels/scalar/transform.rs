//! The transforms, both ways.

use super::super::Block;

/// `sqrt(2) cos(pi / 8) - 1` in 65536ths (RFC 6386 section 14.3).
const COSINE_LESS_ONE: i32 = 20091;
/// `sqrt(2) sin(pi / 8)` in 65536ths.
const SINE: i32 = 35468;

/// `sqrt(2) cos(pi / 8)` in 16384ths, as the forward transform multiplies.
const COSINE: i32 = 21407;
/// `sqrt(2) sin(pi / 8)` in 16384ths.
const FORWARD_SINE: i32 = 8867;

/// One inverse transform of four coefficients, rounding off the same bits as the standard and wrapping in 16.
fn inverse([a, b, c, d]: [i16; 4]) -> [i16; 4] {
    let times_cosine = |value: i16| value.wrapping_add(((i32::from(value) * COSINE_LESS_ONE) >> 16) as i16);
    let times_sine = |value: i16| ((i32::from(value) * SINE) >> 16) as i16;
    let (even_sum, even_difference) = (a.wrapping_add(c), a.wrapping_sub(c));
    let odd_difference = times_sine(b).wrapping_sub(times_cosine(d));
    let odd_sum = times_cosine(b).wrapping_add(times_sine(d));
    [
        even_sum.wrapping_add(odd_sum),
        even_difference.wrapping_add(odd_difference),
        even_difference.wrapping_sub(odd_difference),
        even_sum.wrapping_sub(odd_sum),
    ]
}

/// Adds what a residual is to a pixel.
fn add(pixel: &mut u8, residual: i16) {
    *pixel = (i16::from(*pixel).saturating_add(residual)).clamp(0, 255) as u8;
}

pub fn idct_add(coefficients: &Block, pixels: &mut [u8], stride: usize) {
    let mut down = [[0; 4]; 4];
    for column in 0..4 {
        let transformed = inverse(std::array::from_fn(|row| coefficients[row * 4 + column]));
        for row in 0..4 {
            down[row][column] = transformed[row];
        }
    }
    for (row, values) in down.into_iter().enumerate() {
        let pixels = &mut pixels[row * stride..][..4];
        // The rounding goes in before the last sums, so that these wrap where vectors' do.
        let [a, b, c, d] = values;
        let residuals = inverse([a.wrapping_add(4), b, c, d]).map(|value| value >> 3);
        pixels.iter_mut().zip(residuals).for_each(|(pixel, residual)| add(pixel, residual));
    }
}

pub fn idct_add_beside<const BLOCKS: usize>(coefficients: &[Block; BLOCKS], pixels: &mut [u8], stride: usize) {
    for (block, coefficients) in coefficients.iter().enumerate() {
        idct_add(coefficients, &mut pixels[4 * block..], stride);
    }
}

pub fn idct_dc_add(dc: i16, pixels: &mut [u8], stride: usize) {
    let residual = dc.wrapping_add(4) >> 3;
    for row in 0..4 {
        pixels[row * stride..][..4].iter_mut().for_each(|pixel| add(pixel, residual));
    }
}

pub fn idct_dc_add_beside<const BLOCKS: usize>(dc: [i16; BLOCKS], pixels: &mut [u8], stride: usize) {
    for (block, dc) in dc.into_iter().enumerate() {
        idct_dc_add(dc, &mut pixels[4 * block..], stride);
    }
}

/// The Walsh-Hadamard transform of four values, which is its own inverse times four.
fn walsh([a, b, c, d]: [i16; 4]) -> [i16; 4] {
    let (outer_sum, inner_sum) = (a.wrapping_add(d), b.wrapping_add(c));
    let (outer_difference, inner_difference) = (a.wrapping_sub(d), b.wrapping_sub(c));
    [
        outer_sum.wrapping_add(inner_sum),
        outer_difference.wrapping_add(inner_difference),
        outer_sum.wrapping_sub(inner_sum),
        outer_difference.wrapping_sub(inner_difference),
    ]
}

/// [`walsh`] of the columns and then of the rows.
fn walsh_both_ways(values: &Block) -> Block {
    let mut transformed = *values;
    for column in 0..4 {
        let down = walsh(std::array::from_fn(|row| transformed[row * 4 + column]));
        (0..4).for_each(|row| transformed[row * 4 + column] = down[row]);
    }
    for row in transformed.chunks_exact_mut(4) {
        row.copy_from_slice(&walsh([row[0], row[1], row[2], row[3]]));
    }
    transformed
}

pub fn inverse_walsh(coefficients: &Block) -> Block {
    walsh_both_ways(coefficients).map(|value| value.wrapping_add(3) >> 3)
}

pub fn forward_walsh(coefficients: &Block) -> Block {
    walsh_both_ways(coefficients).map(|value| value / 2)
}

/// One forward transform of four values: the sums exact, the others with 14 bits of fraction to be rounded off.
fn forward([a, b, c, d]: [i32; 4]) -> [i32; 4] {
    let (outer_sum, inner_sum, inner_difference, outer_difference) = (a + d, b + c, b - c, a - d);
    [
        outer_sum + inner_sum,
        outer_difference * COSINE + inner_difference * FORWARD_SINE,
        outer_sum - inner_sum,
        outer_difference * FORWARD_SINE - inner_difference * COSINE,
    ]
}

/// The inverse's basis has columns of norm 2, and the inverse divides by 8; so the forward transform is the transposed
/// basis both ways and half of that. The first pass (of rows) leaves eight times its result in 16 bits, the second
/// divides by sixteen.
pub fn forward_dct(block: &[u8], block_stride: usize, prediction: &[u8], prediction_stride: usize) -> Block {
    let mut across = [[0; 4]; 4];
    for (row, values) in across.iter_mut().enumerate() {
        let (block, prediction) = (&block[row * block_stride..][..4], &prediction[row * prediction_stride..][..4]);
        let [a, b, c, d] = forward(std::array::from_fn(|i| i32::from(block[i]) - i32::from(prediction[i])));
        let round = |value: i32| (value + (1 << 10)) >> 11;
        *values = [a * 8, round(b), c * 8, round(d)];
    }
    let mut coefficients = [0; 16];
    for column in 0..4 {
        let [a, b, c, d] = forward(std::array::from_fn(|row| across[row][column]));
        let round = |value: i32| (value + (1 << 17)) >> 18;
        let down = [(a + 8) >> 4, round(b), (c + 8) >> 4, round(d)];
        (0..4).for_each(|row| coefficients[row * 4 + column] = down[row] as i16);
    }
    coefficients
}

pub fn forward_dct_beside<const BLOCKS: usize>(
    block: &[u8],
    block_stride: usize,
    prediction: &[u8],
    prediction_stride: usize,
) -> [Block; BLOCKS] {
    std::array::from_fn(|i| forward_dct(&block[4 * i..], block_stride, &prediction[4 * i..], prediction_stride))
}
