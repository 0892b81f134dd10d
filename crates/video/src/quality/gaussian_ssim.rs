//! Structural similarity (Wang et al. 2004) under a Gaussian window that grows with the picture: the variant of Daala's
//! tools (`dump_ssim`), which Salsify's evaluation uses.
//!
//! Around every sample, means, variances and the covariance are weighted by a Gaussian with a deviation of 1.5 samples
//! for a picture of 256 rows, proportionally more for a larger one, with weights in integer 256ths. Outside of the
//! picture there is nothing: the window loses that weight, and the sample counts with the remaining weight. All values
//! up to the last division are integers.
//!
//! Samples are taken relative to 128, and squares relative to 128^2, which keeps every sum in 32 bits (see [`Moments`])
//! and does not affect the result: variances do not depend on the offset, and means are corrected at the end.

use std::ops::Range;

use super::assert_same_size;
use crate::picture::{Picture, Plane};
use crate::widest::{array, widest};

/// The deviation of the window in a picture of 256 rows (Daala, `tools/dump_ssim.c`).
const DEVIATION: f64 = 1.5 / 256.0;
/// Sum of a window's weights in each direction (ibid.).
const WEIGHT: i32 = 256;
/// (0.01 * 255)^2 and (0.03 * 255)^2 (Wang et al. 2004).
const C1: f64 = 6.5025;
const C2: f64 = 58.5225;
/// Samples processed at once.
const LANES: usize = 16;
/// Columns processed at once, so that the rows under the window (0.1 MB at 720 lines) stay in a fast cache.
const STRIP: usize = 320;

/// SSIM of luma, 1 for identical pictures.
///
/// # Panics
/// When the sizes differ: scale first.
pub fn ssim_daala(a: &Picture, b: &Picture) -> f64 {
    assert_same_size(a, b);
    let (width, height) = (usize::from(a.size().width), usize::from(a.size().height));
    let (a, b) = (a.plane(Plane::Y), b.plane(Plane::Y));
    if a.is_empty() {
        return 1.0;
    }
    let window = Window::new(width, height);
    widest(
        #[inline(always)]
        || plane_ssim(a, b, &window),
    )
}

/// The window.
struct Window {
    /// The weight of its centre, of the two samples next to it, and so on.
    weights: Vec<i32>,
    /// The part of its weight inside the picture horizontally, for a window centred on each column.
    across: Vec<i32>,
    /// The same vertically, for each row.
    down: Vec<i32>,
}

impl Window {
    fn new(width: usize, height: usize) -> Window {
        let weights = gaussian(height as f64 * DEVIATION, width.min(height));
        let inside = |length: usize| {
            let outside = |distance: usize| weights.iter().skip(distance + 1).sum::<i32>();
            (0..length).map(|at| WEIGHT - outside(at) - outside(length - 1 - at)).collect()
        };
        Window { across: inside(width), down: inside(height), weights }
    }

    fn reach(&self) -> usize {
        self.weights.len() - 1
    }

    /// The sum of the weights of all windows inside the picture.
    fn total(&self) -> f64 {
        let sum = |weights: &[i32]| weights.iter().map(|weight| f64::from(*weight)).sum::<f64>();
        sum(&self.across) * sum(&self.down)
    }
}

/// Weights from the centre outwards, until one would round to zero or be `limit` samples away.
fn gaussian(deviation: f64, limit: usize) -> Vec<i32> {
    let one = f64::from(WEIGHT);
    let tail = libm::sqrt(std::f64::consts::FRAC_PI_2) * deviation / one;
    let reach = if tail >= 1.0 { 0.0 } else { libm::floor(deviation * libm::sqrt(-2.0 * libm::log(tail))) };
    let reach = (reach as usize).min(limit - 1);
    let top = one / (libm::sqrt(std::f64::consts::TAU) * deviation);
    let side = |distance: usize| {
        let away = distance as f64 / deviation;
        (top * libm::exp(-0.5 * away * away) + 0.5) as i32
    };
    let mut weights: Vec<i32> = (0..=reach).map(side).collect();
    weights[0] = WEIGHT - 2 * weights[1..].iter().sum::<i32>();
    weights
}

/// The values averaged under the window, each for a row of samples: a - 128, b - 128, (a - 128)^2 + (b - 128)^2 -
/// 128^2, (a - 128) * (b - 128). Each fits 16 bits; after averaging in one direction the first two still do; after
/// averaging in both, everything fits 32 bits, because weights add up to 2^8 in each direction.
#[derive(Clone, Copy)]
struct Moments {
    a: [i16; LANES],
    b: [i16; LANES],
    squares: [i16; LANES],
    products: [i16; LANES],
}

impl Moments {
    /// The values outside of the picture, where samples count as 128 in both pictures: only the constant of the
    /// squares.
    const OUTSIDE: Moments =
        Moments { a: [0; LANES], b: [0; LANES], squares: [-128 * 128; LANES], products: [0; LANES] };

    #[inline(always)]
    fn of(left: &[u8; LANES], right: &[u8; LANES]) -> Moments {
        let mut moments = Moments::OUTSIDE;
        for i in 0..LANES {
            let (a, b) = (i16::from(left[i]) - 128, i16::from(right[i]) - 128);
            (moments.a[i], moments.b[i], moments.products[i]) = (a, b, a * b);
            // 2^15 at most before the constant is subtracted.
            moments.squares[i] = (a * a).wrapping_add(b * b).wrapping_sub(128 * 128);
        }
        moments
    }
}

/// The same four values of a row, averaged vertically.
type Averages = [Vec<i32>; 4];

#[inline(always)]
fn plane_ssim(a: &[u8], b: &[u8], window: &Window) -> f64 {
    let mut totals = [0.0; LANES];
    let width = window.across.len();
    for start in (0..width).step_by(STRIP) {
        strip_ssim(a, b, start..(start + STRIP).min(width), window, &mut totals);
    }
    totals.iter().sum::<f64>() / window.total()
}

/// Adds the weighted SSIM around each sample of some columns.
#[inline(always)]
fn strip_ssim(a: &[u8], b: &[u8], columns: Range<usize>, window: &Window, totals: &mut [f64; LANES]) {
    let (reach, width, height) = (window.reach(), window.across.len(), window.down.len());
    let outputs = columns.len().next_multiple_of(LANES);
    let mut across = window.across[columns.clone()].to_vec();
    across.resize(outputs, 0);
    // A row extends beyond both sides by the window's reach; samples outside of the picture are 128.
    let padded = (outputs + 2 * reach).next_multiple_of(LANES);
    let from = columns.start.saturating_sub(reach)..(columns.end + reach).min(width);
    let place = from.start + reach - columns.start;
    let (mut left, mut right) = (vec![128; padded], vec![128; padded]);

    // The rows under the window, by row number modulo their count, and one row for outside of the picture.
    let (count, blocks) = (2 * reach + 1, padded / LANES);
    let mut rows = vec![Moments::OUTSIDE; (count + 1) * blocks];
    let mut pairs = vec![(0, 0, 0); window.weights.len()];
    let mut averages: Averages = [0; 4].map(|zero| vec![zero; padded]);
    let mut sums: Averages = [0; 4].map(|zero| vec![zero; outputs]);
    for next in 0..height + reach {
        if next < height {
            let line = next * width + from.start..next * width + from.end;
            left[place..place + from.len()].copy_from_slice(&a[line.clone()]);
            right[place..place + from.len()].copy_from_slice(&b[line]);
            let row = &mut rows[next % count * blocks..][..blocks];
            for (moments, (a, b)) in row.iter_mut().zip(left.chunks_exact(LANES).zip(right.chunks_exact(LANES))) {
                *moments = Moments::of(array(a), array(b));
            }
        }
        let Some(row) = next.checked_sub(reach) else { continue };
        for (distance, (pair, weight)) in pairs.iter_mut().zip(&window.weights).enumerate() {
            let above = row.checked_sub(distance).map_or(count, |row| row % count);
            let below = if row + distance < height { (row + distance) % count } else { count };
            *pair = (above * blocks, below * blocks, *weight);
        }
        average_down(&rows, &pairs, &mut averages);
        for (sums, averages) in sums.iter_mut().zip(&averages) {
            average_across(averages, &window.weights, sums);
        }
        score(&sums, window.down[row], &across, totals);
    }
}

/// Averages vertically. For each distance from the centre `pairs` has the start of the rows above and below, and their
/// weight.
#[inline(always)]
fn average_down(rows: &[Moments], pairs: &[(usize, usize, i32)], averages: &mut Averages) {
    let [to_a, to_b, to_squares, to_products] = averages;
    let (middle, _, weight) = pairs[0];
    for block in 0..to_a.len() / LANES {
        let centre = &rows[middle + block];
        let (mut a, mut b) = ([0i16; LANES], [0i16; LANES]);
        let (mut squares, mut products) = ([0i32; LANES], [0i32; LANES]);
        for i in 0..LANES {
            a[i] = centre.a[i] * weight as i16;
            b[i] = centre.b[i] * weight as i16;
            squares[i] = i32::from(centre.squares[i]) * weight;
            products[i] = i32::from(centre.products[i]) * weight;
        }
        for (above, below, weight) in &pairs[1..] {
            let (above, below) = (&rows[above + block], &rows[below + block]);
            for i in 0..LANES {
                a[i] += (above.a[i] + below.a[i]) * *weight as i16;
                b[i] += (above.b[i] + below.b[i]) * *weight as i16;
                squares[i] += (i32::from(above.squares[i]) + i32::from(below.squares[i])) * weight;
                products[i] += (i32::from(above.products[i]) + i32::from(below.products[i])) * weight;
            }
        }
        let at = block * LANES..(block + 1) * LANES;
        to_a[at.clone()].copy_from_slice(&a.map(i32::from));
        to_b[at.clone()].copy_from_slice(&b.map(i32::from));
        to_squares[at.clone()].copy_from_slice(&squares);
        to_products[at].copy_from_slice(&products);
    }
}

/// Averages horizontally.
#[inline(always)]
fn average_across(row: &[i32], weights: &[i32], sums: &mut [i32]) {
    let (reach, length) = (weights.len() - 1, sums.len());
    for (sum, value) in sums.iter_mut().zip(&row[reach..]) {
        *sum = value * weights[0];
    }
    let pair = |distance: usize| (&row[reach - distance..][..length], &row[reach + distance..][..length]);
    // Two distances at a time, to load and store the sums half as often.
    for near in (1..=reach).step_by(2) {
        let far = (near + 1).min(reach);
        let (near_weight, far_weight) = (weights[near], if far > near { weights[far] } else { 0 });
        let ((left, right), (far_left, far_right)) = (pair(near), pair(far));
        for i in 0..length {
            sums[i] += (left[i] + right[i]) * near_weight + (far_left[i] + far_right[i]) * far_weight;
        }
    }
}

/// Adds the weighted SSIM of the samples of a row.
#[inline(always)]
fn score(sums: &Averages, down: i32, across: &[i32], totals: &mut [f64; LANES]) {
    for at in (0..across.len()).step_by(LANES) {
        let (a, b): (&[i32; LANES], &[i32; LANES]) = (array(&sums[0][at..]), array(&sums[1][at..]));
        let (squares, products): (&[i32; LANES], &[i32; LANES]) = (array(&sums[2][at..]), array(&sums[3][at..]));
        let across: &[i32; LANES] = array(&across[at..]);
        for i in 0..LANES {
            let weight = f64::from(across[i] * down);
            totals[i] += weight * similarity(a[i], b[i], squares[i], products[i], weight);
        }
    }
}

/// SSIM of a window from its sums; `weight` is the part inside the picture, 0 for a column that only pads a block.
#[inline(always)]
fn similarity(a: i32, b: i32, squares: i32, products: i32, weight: f64) -> f64 {
    /// 128^2 for a whole window: squares outside of the picture have the constant too.
    const CONSTANT: f64 = 128.0 * 128.0 * 256.0 * 256.0;
    let (a, b, squares, products) = (f64::from(a), f64::from(b), f64::from(squares), f64::from(products));
    let (c1, c2) = (C1 * weight * weight, C2 * weight * weight);
    let variances = (squares + CONSTANT) * weight - a * a - b * b;
    let covariance = products * weight - a * b;
    let (a, b) = (a + 128.0 * weight, b + 128.0 * weight);
    let (product, energy) = (a * b, a * a + b * b);
    (2.0 * product + c1) * (2.0 * covariance + c2) / ((energy + c1) * (variances + c2)).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use thalweg_units::{Seed, Size};

    #[test]
    fn identical_pictures_have_ssim_one() {
        for size in [Size::new(64, 48), Size::new(1, 1), Size::new(150, 301)] {
            for luma in [0, 90, 255] {
                let picture = Picture::filled(size, luma, 0, 0);
                assert_eq!(ssim_daala(&picture, &picture), 1.0, "{size} {luma}");
            }
        }
    }

    #[test]
    fn black_against_white_is_next_to_nothing() {
        let size = Size::new(200, 100);
        let (black, white) = (Picture::filled(size, 0, 0, 0), Picture::filled(size, 255, 0, 0));
        // Means 0 and 255, no variance: (0 + C1) / (255^2 + C1).
        let wanted = 6.5025 / (65_025.0 + 6.5025);
        assert!((ssim_daala(&black, &white) - wanted).abs() < 1e-12);
    }

    #[test]
    fn the_window_of_720_rows_is_23_wide_and_its_weights_add_up() {
        let window = Window::new(1280, 720);
        assert_eq!(window.reach(), 11);
        assert_eq!(window.weights[0] + 2 * window.weights[1..].iter().sum::<i32>(), 256);
        assert_eq!((window.across[0], window.across[640]), (128 + window.weights[0] / 2, 256));
    }

    proptest! {
        #[test]
        fn the_instructions_picked_do_not_change_a_bit(width in 1usize..300, height in 1usize..60, seed in any::<u64>()) {
            let mut random = Seed::new(seed).random();
            let mut plane = || (0..width * height).map(|_| random.below(256) as u8).collect::<Vec<_>>();
            let (a, b, window) = (plane(), plane(), Window::new(width, height));
            let picked = widest(#[inline(always)] || plane_ssim(&a, &b, &window));
            prop_assert_eq!(picked.to_bits(), plane_ssim(&a, &b, &window).to_bits());
        }
    }
}
