//! Structural similarity (Wang et al. 2004) over 8x8 windows every 4 samples, the variant of x264 and ffmpeg.
//!
//! The windows are made of 4x4 blocks, whose sums are computed once and shared by the up to four windows they are in.

use crate::picture::{Picture, Plane};

/// (0.01 * 255)^2 and (0.03 * 255)^2 for sums over 64 samples.
const C1: f64 = 6.5025 * 64.0 * 64.0;
const C2: f64 = 58.5225 * 64.0 * 63.0;

/// Sums over a 4x4 block: of a, of b, of a^2 + b^2, of a * b.
type Sums = [u32; 4];

/// SSIM of luma, 1 for identical pictures. Sizes of at least 8x8; samples beyond a multiple of four are left out.
///
/// # Panics
/// When the sizes differ (scale first) or are below 8x8.
pub fn ssim(a: &Picture, b: &Picture) -> f64 {
    assert_eq!(a.size(), b.size(), "pictures of different sizes are compared after scaling");
    let (width, height) = (usize::from(a.size().width), usize::from(a.size().height));
    assert!(width >= 8 && height >= 8, "SSIM needs at least 8x8 samples, not {}", a.size());
    let (columns, rows) = (width / 4, height / 4);
    let (a, b) = (a.plane(Plane::Y), b.plane(Plane::Y));
    let mut above = vec![[0; 4]; columns];
    let mut below = vec![[0; 4]; columns];
    let mut total = 0.0;
    for row in 0..rows {
        std::mem::swap(&mut above, &mut below);
        block_row(&a[row * 4 * width..], &b[row * 4 * width..], width, &mut below);
        if row > 0 {
            total += (1..columns).map(|x| window([above[x - 1], above[x], below[x - 1], below[x]])).sum::<f64>();
        }
    }
    total / ((columns - 1) * (rows - 1)) as f64
}

/// -10 log10(1 - SSIM): 0.99 is 20 dB; at most 100 dB.
pub fn ssim_db(ssim: f64) -> f64 {
    if ssim >= 1.0 { super::PSNR_CAP } else { (-10.0 * libm::log10(1.0 - ssim)).min(super::PSNR_CAP) }
}

fn block_row(a: &[u8], b: &[u8], width: usize, sums: &mut [Sums]) {
    sums.fill([0; 4]);
    for line in 0..4 {
        let (a, b) = (&a[line * width..(line + 1) * width], &b[line * width..(line + 1) * width]);
        for ((a, b), sums) in a.chunks_exact(4).zip(b.chunks_exact(4)).zip(sums.iter_mut()) {
            for (a, b) in a.iter().zip(b) {
                let (a, b) = (u32::from(*a), u32::from(*b));
                sums[0] += a;
                sums[1] += b;
                sums[2] += a * a + b * b;
                sums[3] += a * b;
            }
        }
    }
}

fn window(blocks: [Sums; 4]) -> f64 {
    let sum = |index: usize| blocks.iter().map(|block| f64::from(block[index])).sum::<f64>();
    let (a, b, squares, product) = (sum(0), sum(1), sum(2), sum(3));
    let variances = squares * 64.0 - a * a - b * b;
    let covariance = product * 64.0 - a * b;
    (2.0 * a * b + C1) * (2.0 * covariance + C2) / ((a * a + b * b + C1) * (variances + C2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Size;

    #[test]
    fn identical_pictures_have_ssim_one_and_the_decibels_of_the_spec_come_out() {
        let picture = Picture::filled(Size::new(64, 48), 90, 0, 0);
        assert_eq!(ssim(&picture, &picture), 1.0);
        for (value, db) in [(0.99, 20.0), (0.968, 14.95), (0.997, 25.23)] {
            assert!((ssim_db(value) - db).abs() < 0.005, "{value}: {}", ssim_db(value));
        }
        assert_eq!(ssim_db(1.0), 100.0);
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
}
