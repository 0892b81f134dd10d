//! The forward and inverse transforms.

use super::super::Block;

/// `sqrt(2) cos(pi / 8) - 1` in 65536ths (RFC 6386 section 14.3).
const COSINE_LESS_ONE: i32 = 20091;
/// `sqrt(2) sin(pi / 8)` in 65536ths.
const SINE: i32 = 35468;

/// `sqrt(2) cos(pi / 8)` in 16384ths, as the forward transform multiplies.
const COSINE: i32 = 21407;
/// `sqrt(2) sin(pi / 8)` in 16384ths.
const FORWARD_SINE: i32 = 8867;

/// One inverse transform of four coefficients, with the rounding of the standard and 16-bit wraparound.
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

/// Adds a residual to a pixel.
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
        // The rounding term is added before the last sums, so that these wrap where the vector versions wrap.
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

/// [`walsh`] of the columns, then of the rows.
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
    let transformed = walsh_both_ways(coefficients);
    // Half of each, rounded towards zero, except that the mean is rounded up: this minimises the error of the inverse,
    // which adds only 3 before it divides by 8.
    let mut halves = transformed.map(|value| value / 2);
    halves[0] = transformed[0].wrapping_add(1) >> 1;
    halves
}

/// One forward transform of four values: the first and the third exact, the others with 14 fractional bits, of which
/// `BITS` are rounded off.
///
/// The standard's inverse rounds its products down, which on average subtracts 1 from the first of four values and adds
/// 1 to the last. An increase of the second coefficient by `sqrt(2) cos(pi / 8) / 2` and of the fourth by `sqrt(2)
/// sin(pi / 8) / 2` compensates for exactly that. `LIFT` quarters of the factors are that increase; they are added
/// before rounding, unless both values are 0.
fn forward<const BITS: u32, const LIFT: i32>([a, b, c, d]: [i32; 4]) -> [i32; 4] {
    let (outer_sum, inner_sum, inner_difference, outer_difference) = (a + d, b + c, b - c, a - d);
    let (mut second, mut fourth) = (0, 0);
    if (outer_difference, inner_difference) != (0, 0) {
        let round = |value: i32, factor: i32| (value + ((factor * LIFT) >> 2) + (1 << (BITS - 1))) >> BITS;
        second = round(outer_difference * COSINE + inner_difference * FORWARD_SINE, COSINE);
        fourth = round(outer_difference * FORWARD_SINE - inner_difference * COSINE, FORWARD_SINE);
    }
    [outer_sum + inner_sum, second, outer_sum - inner_sum, fourth]
}

/// The inverse's basis has columns of norm 2, and the inverse divides by 8; so the forward transform is half of the
/// transposed basis in both directions. The first pass (of rows) gives eight times its result, in 16 bits; the second
/// divides by sixteen.
pub fn forward_dct(block: &[u8], block_stride: usize, prediction: &[u8], prediction_stride: usize) -> Block {
    let mut across = [[0; 4]; 4];
    for (row, values) in across.iter_mut().enumerate() {
        let (block, prediction) = (&block[row * block_stride..][..4], &prediction[row * prediction_stride..][..4]);
        let residual = std::array::from_fn(|i| i32::from(block[i]) - i32::from(prediction[i]));
        let [a, b, c, d] = forward::<11, 1>(residual);
        *values = [a * 8, b, c * 8, d];
    }
    let mut coefficients = [0; 16];
    for column in 0..4 {
        let [a, b, c, d] = forward::<18, 32>(across.map(|row| row[column]));
        // Exact halves are rounded down, since the inverse rounds them up.
        let down = [(a + 7) >> 4, b, (c + 7) >> 4, d];
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The basis of the transform pair, one row per frequency.
    fn basis() -> [[f64; 4]; 4] {
        let angle = std::f64::consts::PI / 8.0;
        let (cosine, sine) = (2.0_f64.sqrt() * angle.cos(), 2.0_f64.sqrt() * angle.sin());
        [[1.0, 1.0, 1.0, 1.0], [cosine, sine, -sine, -cosine], [1.0, -1.0, -1.0, 1.0], [sine, -cosine, cosine, -sine]]
    }

    /// Random pixels.
    fn pixels(seed: u32) -> [u8; 16] {
        let mut state = seed.wrapping_mul(2_654_435_761) | 1;
        std::array::from_fn(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
    }

    #[test]
    fn the_inverse_of_a_lone_first_coefficient_is_flat() {
        for (dc, expected) in [(0, 128), (3, 128), (4, 129), (-4, 128), (-5, 127), (800, 228), (2000, 255), (-2000, 0)]
        {
            let (mut all, mut flat) = ([128; 16], [128; 16]);
            let mut coefficients = [0; 16];
            coefficients[0] = dc;
            idct_add(&coefficients, &mut all, 4);
            idct_dc_add(dc, &mut flat, 4);
            assert_eq!(all, [expected; 16]);
            assert_eq!(flat, [expected; 16]);
        }
    }

    #[test]
    fn the_inverse_rounds_products_down_as_the_standard_does() {
        // One row of coefficients: times cos and sin by hand, 100 * 85627 >> 16 = 130 and 100 * 35468 >> 16 = 54.
        let mut coefficients = [0; 16];
        coefficients[1] = 100;
        let mut pixels = [100; 16];
        idct_add(&coefficients, &mut pixels, 4);
        assert_eq!(pixels[..4], [100 + 16, 100 + 7, 100 - 7, 100 - 16]);
        // Negative products are rounded down as well: -131 and -55.
        coefficients[1] = -100;
        let mut pixels = [100; 16];
        idct_add(&coefficients, &mut pixels, 4);
        assert_eq!(pixels[..4], [100 - 16, 100 - 7, 100 + 7, 100 + 16]);
    }

    #[test]
    fn the_forward_transform_is_within_two_of_the_exact_one() {
        let basis = basis();
        for seed in 0..2000 {
            let (block, prediction) = (pixels(seed), pixels(seed + 7777));
            let coefficients = forward_dct(&block, 4, &prediction, 4);
            for (i, coefficient) in coefficients.into_iter().enumerate() {
                let term = |place: usize| {
                    let residual = f64::from(block[place]) - f64::from(prediction[place]);
                    basis[i / 4][place / 4] * basis[i % 4][place % 4] * residual / 2.0
                };
                let exact = (0..16).map(term).sum::<f64>();
                assert!((f64::from(coefficient) - exact).abs() < 2.0, "{coefficient} for {exact}");
            }
        }
    }

    #[test]
    fn a_residual_comes_back_from_its_transform() {
        let (mut wrong, count) = (0, 2000);
        for seed in 0..count {
            // A prediction far enough from black and white to avoid clamping.
            let block = pixels(seed).map(|pixel| 64 + pixel / 2);
            let prediction = pixels(seed + 4242).map(|pixel| 64 + pixel / 2);
            let mut restored = prediction;
            idct_add(&forward_dct(&block, 4, &prediction, 4), &mut restored, 4);
            for (pixel, restored) in block.into_iter().zip(restored) {
                assert!(pixel.abs_diff(restored) <= 1);
                wrong += u32::from(pixel != restored);
            }
        }
        assert!(wrong * 100 < count * 16, "{wrong} pixels of {} are off by one", count * 16);
    }

    #[test]
    fn nothing_is_transformed_to_nothing() {
        assert_eq!(forward_dct(&pixels(1), 4, &pixels(1), 4), [0; 16]);
        assert_eq!(forward_walsh(&[0; 16]), [0; 16]);
        assert_eq!(inverse_walsh(&[0; 16]), [0; 16]);
    }

    #[test]
    fn the_walsh_transforms_of_a_lone_coefficient_are_flat() {
        let mut coefficients = [0; 16];
        coefficients[0] = 805;
        assert_eq!(inverse_walsh(&coefficients), [101; 16]); // (805 + 3) / 8
        let mut transformed = [0; 16];
        transformed[0] = 808;
        assert_eq!(forward_walsh(&[101; 16]), transformed);
        assert_eq!(forward_walsh(&[-2040; 16])[0], -16320);
    }

    #[test]
    fn first_coefficients_come_back_from_their_walsh_transform() {
        for seed in 0..2000 {
            let (high, low) = (pixels(seed), pixels(seed + 999));
            let coefficients: Block =
                std::array::from_fn(|i| (i16::from(high[i]) * 16 + i16::from(low[i]) % 16) - 2040);
            let restored = inverse_walsh(&forward_walsh(&coefficients));
            assert!(
                coefficients.iter().zip(&restored).all(|(a, b)| a.abs_diff(*b) <= 1),
                "{coefficients:?} {restored:?}"
            );
        }
    }
}
