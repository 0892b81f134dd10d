//! Structural similarity (Wang et al. 2004) over 8x8 windows every 4 samples, the variant of x264 and ffmpeg.
//!
//! The windows consist of 4x4 blocks, whose sums are computed once and shared by up to four windows.

use super::assert_same_size;
use crate::picture::{Picture, Plane};
use crate::widest::{array, widest};

/// (0.01 * 255)^2 and (0.03 * 255)^2 for sums over 64 samples.
const C1: f64 = 6.5025 * 64.0 * 64.0;
const C2: f64 = 58.5225 * 64.0 * 63.0;
/// Columns of samples processed at once, and the blocks in them.
const COLUMNS: usize = 32;
const BLOCKS: usize = COLUMNS / 4;
/// Parallel running sums; they are added up at the end, so the order of the additions does not depend on the processor.
const LANES: usize = 8;

/// SSIM of luma, 1 for identical pictures. Needs at least 8x8 samples; rows and columns beyond a multiple of four are
/// ignored.
///
/// # Panics
/// When the sizes differ (scale first) or are below 8x8.
pub fn ssim(a: &Picture, b: &Picture) -> f64 {
    assert_same_size(a, b);
    let (width, height) = (usize::from(a.size().width), usize::from(a.size().height));
    assert!(width >= 8 && height >= 8, "SSIM needs at least 8x8 samples, not {}", a.size());
    let (a, b) = (a.plane(Plane::Y), b.plane(Plane::Y));
    widest(
        #[inline(always)]
        || plane_ssim(a, b, width, height),
    )
}

/// Sums of a row of 4x4 blocks: of a, of b, of a^2 + b^2, of a * b.
struct Sums {
    a: Vec<i32>,
    b: Vec<i32>,
    squares: Vec<i32>,
    products: Vec<i32>,
}

impl Sums {
    /// Space for `columns` blocks, plus the overhang of a whole chunk.
    fn new(columns: usize) -> Sums {
        let zeros = || vec![0; columns + BLOCKS.max(LANES)];
        Sums { a: zeros(), b: zeros(), squares: zeros(), products: zeros() }
    }
}

#[inline(always)]
fn plane_ssim(a: &[u8], b: &[u8], width: usize, height: usize) -> f64 {
    let (columns, rows) = (width / 4, height / 4);
    let (mut above, mut below) = (Sums::new(columns), Sums::new(columns));
    let mut totals = [0.0; LANES];
    for row in 0..rows {
        std::mem::swap(&mut above, &mut below);
        let band = row * 4 * width..(row + 1) * 4 * width;
        block_row(&a[band.clone()], &b[band], width, &mut below);
        if row > 0 {
            window_row(&above, &below, columns - 1, &mut totals);
        }
    }
    totals.iter().sum::<f64>() / ((columns - 1) * (rows - 1)) as f64
}

/// The block sums of four lines.
#[inline(always)]
fn block_row(a: &[u8], b: &[u8], width: usize, sums: &mut Sums) {
    let whole = width / COLUMNS;
    for chunk in 0..whole {
        put_blocks(&a[chunk * COLUMNS..], &b[chunk * COLUMNS..], width, sums, chunk * BLOCKS);
    }
    let (start, left) = (whole * COLUMNS, width % COLUMNS / 4 * 4);
    if left > 0 {
        // The last columns, padded with zeros; no window uses blocks of zeros.
        let (mut a_lines, mut b_lines) = ([0; 4 * COLUMNS], [0; 4 * COLUMNS]);
        for line in 0..4 {
            let (from, to) = (line * width + start, line * COLUMNS);
            a_lines[to..to + left].copy_from_slice(&a[from..from + left]);
            b_lines[to..to + left].copy_from_slice(&b[from..from + left]);
        }
        put_blocks(&a_lines, &b_lines, COLUMNS, sums, whole * BLOCKS);
    }
}

/// The sums of [`BLOCKS`] blocks, of four lines `stride` apart.
#[inline(always)]
fn put_blocks(a: &[u8], b: &[u8], stride: usize, sums: &mut Sums, at: usize) {
    // Vertical sums first, then horizontal.
    let [mut down_a, mut down_b, mut down_squares, mut down_products] = [[0i32; COLUMNS]; 4];
    for line in 0..4 {
        let (a, b): (&[u8; COLUMNS], &[u8; COLUMNS]) = (array(&a[line * stride..]), array(&b[line * stride..]));
        for i in 0..COLUMNS {
            let (a, b) = (i32::from(a[i]), i32::from(b[i]));
            down_a[i] += a;
            down_b[i] += b;
            down_squares[i] += a * a + b * b;
            down_products[i] += a * b;
        }
    }
    put_across(&down_a, &mut sums.a[at..]);
    put_across(&down_b, &mut sums.b[at..]);
    put_across(&down_squares, &mut sums.squares[at..]);
    put_across(&down_products, &mut sums.products[at..]);
}

#[inline(always)]
fn put_across(down: &[i32; COLUMNS], to: &mut [i32]) {
    for (to, block) in to[..BLOCKS].iter_mut().zip(down.chunks_exact(4)) {
        *to = block[0] + block[1] + block[2] + block[3];
    }
}

/// Adds the SSIM of `count` windows, each of two blocks above and two below.
#[inline(always)]
fn window_row(above: &Sums, below: &Sums, count: usize, totals: &mut [f64; LANES]) {
    for start in (0..count).step_by(LANES) {
        let a = four_blocks(&above.a[start..], &below.a[start..]);
        let b = four_blocks(&above.b[start..], &below.b[start..]);
        let squares = four_blocks(&above.squares[start..], &below.squares[start..]);
        let products = four_blocks(&above.products[start..], &below.products[start..]);
        let mut values = [0.0; LANES];
        for i in 0..LANES {
            values[i] = window(a[i], b[i], squares[i], products[i]);
        }
        let wanted = (count - start).min(LANES);
        if wanted < LANES {
            values[wanted..].fill(0.0);
        }
        for (total, value) in totals.iter_mut().zip(values) {
            *total += value;
        }
    }
}

#[inline(always)]
fn four_blocks(above: &[i32], below: &[i32]) -> [i32; LANES] {
    let (above, below): (&[i32; LANES + 1], &[i32; LANES + 1]) = (array(above), array(below));
    let mut sums = [0; LANES];
    for i in 0..LANES {
        sums[i] = above[i] + below[i] + above[i + 1] + below[i + 1];
    }
    sums
}

/// SSIM of a window from its sums over 64 samples; every integer here is below 64^2 * 2 * 255^2 < 2^30.
#[inline(always)]
fn window(a: i32, b: i32, squares: i32, products: i32) -> f64 {
    let (product, energy) = (a * b, a * a + b * b);
    let variances = f64::from(squares * 64 - energy);
    let covariance = f64::from(products * 64 - product);
    (2.0 * f64::from(product) + C1) * (2.0 * covariance + C2) / ((f64::from(energy) + C1) * (variances + C2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use thalweg_units::{Seed, Size};

    #[test]
    fn identical_pictures_have_ssim_one() {
        let picture = Picture::filled(Size::new(64, 48), 90, 0, 0);
        assert_eq!(ssim(&picture, &picture), 1.0);
    }

    #[test]
    fn noise_costs_more_than_a_change_of_brightness() {
        let mut a = Picture::filled(Size::new(64, 64), 0, 0, 0);
        for (index, sample) in a.plane_mut(Plane::Y).iter_mut().enumerate() {
            *sample = (100 + (index * 7 + index / 64 * 13) % 50) as u8;
        }
        let (mut brighter, mut noisy) = (a.clone(), a.clone());
        brighter.plane_mut(Plane::Y).iter_mut().for_each(|sample| *sample += 10);
        for (index, sample) in noisy.plane_mut(Plane::Y).iter_mut().enumerate() {
            *sample = if (index * 2_654_435_761) >> 13 & 1 == 0 { *sample + 10 } else { *sample - 10 };
        }
        let (bright, noise) = (ssim(&a, &brighter), ssim(&a, &noisy));
        assert!((0.9..1.0).contains(&bright) && noise < bright - 0.05, "{bright} {noise}");
    }

    proptest! {
        #[test]
        fn the_instructions_picked_do_not_change_a_bit(width in 8usize..150, height in 8usize..40, seed in any::<u64>()) {
            let mut random = Seed::new(seed).random();
            let mut plane = || (0..width * height).map(|_| random.below(256) as u8).collect::<Vec<_>>();
            let (a, b) = (plane(), plane());
            let picked = widest(#[inline(always)] || plane_ssim(&a, &b, width, height));
            prop_assert_eq!(picked.to_bits(), plane_ssim(&a, &b, width, height).to_bits());
        }
    }
}
