//! How alike two pictures are: metrics.md section 2, on luma.

mod ssim;

use crate::picture::{Picture, Plane};
pub use ssim::{ssim, ssim_db};

/// Identical pictures count as this, in dB (metrics.md section 2).
pub const PSNR_CAP: f64 = 100.0;

/// Mean squared error of luma.
///
/// # Panics
/// When the sizes differ: scale first.
pub fn mean_squared_error(a: &Picture, b: &Picture) -> f64 {
    assert_eq!(a.size(), b.size(), "pictures of different sizes are compared after scaling");
    let width = usize::from(a.size().width);
    let rows = a.plane(Plane::Y).chunks_exact(width).zip(b.plane(Plane::Y).chunks_exact(width));
    // A row of 16383 samples cannot overflow 32 bits: 16383 * 255^2 < 2^31.
    let sum: u64 = rows.map(|(a, b)| u64::from(squared_difference(a, b))).sum();
    sum as f64 / a.size().pixels() as f64
}

fn squared_difference(a: &[u8], b: &[u8]) -> u32 {
    a.iter()
        .zip(b)
        .map(|(a, b)| {
            let difference = i32::from(*a) - i32::from(*b);
            (difference * difference) as u32
        })
        .sum()
}

/// Peak signal-to-noise ratio of luma, in dB, at most [`PSNR_CAP`].
///
/// # Panics
/// When the sizes differ: scale first.
pub fn psnr(a: &Picture, b: &Picture) -> f64 {
    psnr_of(mean_squared_error(a, b))
}

/// The PSNR of a mean squared error, in dB.
pub fn psnr_of(mean_squared_error: f64) -> f64 {
    if mean_squared_error <= 0.0 {
        return PSNR_CAP;
    }
    (10.0 * libm::log10(255.0 * 255.0 / mean_squared_error)).min(PSNR_CAP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Size;

    #[test]
    fn the_worked_numbers_of_the_spec_come_out() {
        assert!((psnr_of(65.025) - 30.0).abs() < 1e-9);
        assert!((psnr_of(6.5025) - 40.0).abs() < 1e-9);
        assert_eq!(psnr_of(0.0), 100.0);
    }

    #[test]
    fn a_difference_of_five_everywhere_is_25() {
        let a = Picture::filled(Size::new(33, 17), 100, 0, 0);
        let b = Picture::filled(Size::new(33, 17), 105, 9, 9);
        assert_eq!(mean_squared_error(&a, &b), 25.0);
    }
}
