//! Multi-scale structural similarity (Wang, Simoncelli and Bovik 2003): contrast and structure at five scales, luminance at
//! the coarsest.
//!
//! At each scale both are averaged over every window of 11x11 samples that lies inside the picture, under a Gaussian with a
//! deviation of 1.5 samples; the next scale is the mean of blocks of 2x2 samples, an odd last row or column counting twice
//! (the authors' `msssim.m`). In single precision, which is good for four digits after the point.

use crate::picture::{Picture, Plane};
use crate::widest::{array, widest};

/// The exponents, the finest scale first (Wang et al. 2003, section 3.2).
const WEIGHTS: [f64; 5] = [0.0448, 0.2856, 0.3001, 0.2363, 0.1333];
/// Samples under the window in each direction, and its deviation (ibid., section 2).
const SPAN: usize = 11;
const DEVIATION: f64 = 1.5;
/// (0.01 * 255)^2 and (0.03 * 255)^2 (ibid.).
const C1: f32 = 6.5025;
const C2: f32 = 58.5225;
/// The least width and height: that of one window at the coarsest scale.
const LEAST: usize = (SPAN - 1) * (1 << (WEIGHTS.len() - 1)) + 1;
/// Samples processed at once. Their sums are kept apart, so that the order of additions does not depend on the processor.
const LANES: usize = 16;

/// MS-SSIM of luma, 1 for identical pictures; `None` for pictures of less than 161 rows or columns, whose coarsest scale
/// is smaller than a window.
///
/// # Panics
/// When the sizes differ: scale first.
pub fn ms_ssim(a: &Picture, b: &Picture) -> Option<f64> {
    super::assert_same_size(a, b);
    let (width, height) = (usize::from(a.size().width), usize::from(a.size().height));
    let luma = |picture: &Picture| {
        // Relative to 128, which keeps the squares small for their precision and changes no variance.
        let samples = picture.plane(Plane::Y).iter().map(|sample| f32::from(*sample) - 128.0).collect();
        Luma { width, height, samples }
    };
    (width.min(height) >= LEAST).then(|| {
        widest(
            #[inline(always)]
            || over_scales(luma(a), luma(b)),
        )
    })
}

/// The product over scales. Where pictures are so unlike that a mean is negative, it counts as 0.
#[inline(always)]
fn over_scales(mut a: Luma, mut b: Luma) -> f64 {
    let weights = window();
    let mut product = 1.0;
    for (scale, exponent) in WEIGHTS.iter().enumerate() {
        let is_last = scale + 1 == WEIGHTS.len();
        let mean = if is_last { similarity::<true>(&a, &b, &weights) } else { similarity::<false>(&a, &b, &weights) };
        product *= libm::pow(mean.max(0.0), *exponent);
        if !is_last {
            (a, b) = (a.halved(), b.halved());
        }
    }
    product
}

/// The window's weights in one direction, of sum 1.
fn window() -> [f32; SPAN] {
    let weight = |place: usize| {
        let away = (place as f64 - (SPAN / 2) as f64) / DEVIATION;
        libm::exp(-0.5 * away * away)
    };
    let weights: [f64; SPAN] = std::array::from_fn(weight);
    let sum: f64 = weights.iter().sum();
    weights.map(|weight| (weight / sum) as f32)
}

/// Luma relative to 128.
struct Luma {
    width: usize,
    height: usize,
    samples: Vec<f32>,
}

impl Luma {
    #[inline(always)]
    fn row(&self, row: usize) -> &[f32] {
        &self.samples[row * self.width..(row + 1) * self.width]
    }

    /// Half as large in both directions.
    #[inline(always)]
    fn halved(&self) -> Luma {
        let (width, height) = (self.width.div_ceil(2), self.height.div_ceil(2));
        let mut samples = Vec::with_capacity(width * height);
        for row in 0..height {
            let (above, below) = (self.row(2 * row), self.row((2 * row + 1).min(self.height - 1)));
            let pairs = above.chunks_exact(2).zip(below.chunks_exact(2));
            samples.extend(pairs.map(|(above, below)| (above[0] + above[1] + below[0] + below[1]) * 0.25));
            if let ([.., above], [.., below], true) = (above, below, self.width % 2 == 1) {
                samples.push((above + below) * 0.5);
            }
        }
        Luma { width, height, samples }
    }
}

/// The values averaged under the window: a, b, a^2 + b^2, a * b.
type Fields = [Vec<f32>; 4];

/// The mean over all windows of contrast and structure, and if `LUMINANCE` times luminance.
#[inline(always)]
fn similarity<const LUMINANCE: bool>(a: &Luma, b: &Luma, weights: &[f32; SPAN]) -> f64 {
    let (columns, rows) = (a.width - SPAN + 1, a.height - SPAN + 1);
    let padded = columns.next_multiple_of(LANES);
    let fields = |length: usize| -> Fields { std::array::from_fn(|_| vec![0.0f32; length]) };
    // Rows averaged horizontally, by row number modulo the window's span.
    let mut across: [Fields; SPAN] = std::array::from_fn(|_| fields(padded));
    let mut line = fields(padded + SPAN - 1);
    let mut sums = fields(padded);
    let mut totals = [0.0f64; LANES];
    for row in 0..a.height {
        products(a.row(row), b.row(row), &mut line);
        for (values, out) in line.iter().zip(across[row % SPAN].iter_mut()) {
            let under: [&[f32]; SPAN] = std::array::from_fn(|offset| &values[offset..]);
            average(&under, weights, out);
        }
        let Some(first) = (row + 1).checked_sub(SPAN) else { continue };
        for (field, out) in sums.iter_mut().enumerate() {
            let under: [&[f32]; SPAN] = std::array::from_fn(|offset| across[(first + offset) % SPAN][field].as_slice());
            average(&under, weights, out);
        }
        score::<LUMINANCE>(&sums, columns, &mut totals);
    }
    totals.iter().sum::<f64>() / (columns * rows) as f64
}

#[inline(always)]
fn products(a: &[f32], b: &[f32], line: &mut Fields) {
    let [to_a, to_b, squares, both] = line.each_mut().map(|values| &mut values[..a.len()]);
    to_a.copy_from_slice(a);
    to_b.copy_from_slice(b);
    for (((a, b), squares), both) in a.iter().zip(b).zip(squares).zip(both) {
        (*squares, *both) = (a * a + b * b, a * b);
    }
}

/// The weighted sum of eleven rows; those at the same distance from the middle have the same weight.
#[inline(always)]
fn average(under: &[&[f32]; SPAN], weights: &[f32; SPAN], out: &mut [f32]) {
    const MIDDLE: usize = SPAN / 2;
    for (block, out) in out.chunks_exact_mut(LANES).enumerate() {
        let at = |offset: usize| -> &[f32; LANES] { array(&under[offset][block * LANES..]) };
        let mut sum = at(MIDDLE).map(|value| value * weights[MIDDLE]);
        for (offset, weight) in weights[..MIDDLE].iter().enumerate() {
            let (before, after) = (at(offset), at(SPAN - 1 - offset));
            for i in 0..LANES {
                sum[i] += (before[i] + after[i]) * weight;
            }
        }
        out.copy_from_slice(&sum);
    }
}

/// Adds the similarity of a row of windows; what is beyond `columns` is padding.
#[inline(always)]
fn score<const LUMINANCE: bool>(sums: &Fields, columns: usize, totals: &mut [f64; LANES]) {
    for start in (0..columns).step_by(LANES) {
        let [a, b, squares, both]: [&[f32; LANES]; 4] = [0, 1, 2, 3].map(|field| array(&sums[field][start..]));
        let mut values = [0.0f32; LANES];
        for i in 0..LANES {
            let (means, energy) = (a[i] * b[i], a[i] * a[i] + b[i] * b[i]);
            values[i] = (2.0 * (both[i] - means) + C2) / (squares[i] - energy + C2);
            if LUMINANCE {
                let (a, b) = (a[i] + 128.0, b[i] + 128.0);
                values[i] *= (2.0 * a * b + C1) / (a * a + b * b + C1);
            }
        }
        let wanted = (columns - start).min(LANES);
        for (total, value) in totals.iter_mut().zip(&values[..wanted]) {
            *total += f64::from(*value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use thalweg_units::{Seed, Size};

    /// Two pictures by integer formulas, so that another program can make the same.
    fn pair(size: Size) -> (Picture, Picture) {
        let width = usize::from(size.width);
        let (mut a, mut b) = (Picture::filled(size, 0, 128, 128), Picture::filled(size, 0, 128, 128));
        for (index, sample) in a.plane_mut(Plane::Y).iter_mut().enumerate() {
            let (x, y) = (index % width, index / width);
            *sample = (40 + (x * x / 97 + y * y / 61 + x * y / 143) % 160) as u8;
        }
        let source = a.plane(Plane::Y).to_vec();
        for (index, sample) in b.plane_mut(Plane::Y).iter_mut().enumerate() {
            let (x, y) = (index % width, index / width);
            *sample = source[index] / 12 * 12 + 3 + ((x * 7 + y * 13) % 9) as u8;
        }
        (a, b)
    }

    /// Made once by NumPy 2, in double precision and two dimensions, with ten lines of the paper's formulas:
    /// `tests/ms_ssim.py`.
    #[test]
    fn the_values_of_an_independent_program_come_out() {
        for (width, height, wanted) in [(320, 240, 0.995_419_35), (253, 187, 0.993_460_54), (161, 161, 0.990_050_60)] {
            let size = Size::new(width, height);
            let (a, b) = pair(size);
            let found = ms_ssim(&a, &b).unwrap();
            assert!((found - wanted).abs() < 1e-5, "{size}: {found}, not {wanted}");
        }
    }

    #[test]
    fn identical_pictures_have_one_and_small_ones_none() {
        let (a, _) = pair(Size::new(320, 180));
        assert_eq!(ms_ssim(&a, &a), Some(1.0));
        let (a, _) = pair(Size::new(320, 160));
        assert_eq!(ms_ssim(&a, &a), None);
    }

    /// Checks flat pictures, of which only the luminance differs: (2 * 100 * 50 + C1) / (100^2 + 50^2 + C1) to the
    /// power of 0.1333.
    #[test]
    fn flat_pictures_differ_by_luminance_alone() {
        let size = Size::new(200, 200);
        let [a, b] = [100, 50].map(|luma| Picture::filled(size, luma, 128, 128));
        let wanted = (10_006.502_5f64 / 12_506.502_5).powf(0.1333);
        assert!((ms_ssim(&a, &b).unwrap() - wanted).abs() < 5e-5);
    }

    proptest! {
        #[test]
        fn it_is_symmetric_and_falls_as_noise_grows(seed in any::<u64>(), amount in 2u64..60) {
            let size = Size::new(176, 161);
            let (a, _) = pair(size);
            let noisy = |amount: u64| {
                let mut random = Seed::new(seed).random();
                let mut noisy = a.clone();
                noisy.plane_mut(Plane::Y).iter_mut().for_each(|sample| {
                    *sample = (u64::from(*sample) + random.below(2 * amount + 1)).saturating_sub(amount).min(255) as u8;
                });
                noisy
            };
            let (less, more) = (noisy(amount), noisy(2 * amount));
            let (near, far) = (ms_ssim(&a, &less).unwrap(), ms_ssim(&a, &more).unwrap());
            prop_assert!(far < near && near < 1.0 && far > 0.0, "{near} {far}");
            prop_assert!((ms_ssim(&less, &a).unwrap() - near).abs() < 1e-6);
        }
    }
}
