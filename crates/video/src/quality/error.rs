//! Mean squared error and peak signal-to-noise ratio.

use super::PSNR_CAP;
use crate::picture::{Picture, Plane};
use crate::widest::{array, widest};

/// Samples that are summed before the sum is widened: 256 * 255^2 easily fits 32 bits.
const CHUNK: usize = 256;

/// Mean squared error of luma, in steps of the sample squared (0 to 65025).
///
/// # Panics
/// When the sizes differ: scale first.
pub fn mean_squared_error(a: &Picture, b: &Picture) -> f64 {
    super::assert_same_size(a, b);
    let (left, right) = (a.plane(Plane::Y), b.plane(Plane::Y));
    let sum = widest(
        #[inline(always)]
        || squared_error(left, right),
    );
    sum as f64 / a.size().pixels().max(1) as f64
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

/// Sum of squared differences.
#[inline(always)]
fn squared_error(a: &[u8], b: &[u8]) -> u64 {
    let (left, right) = (a.chunks_exact(CHUNK), b.chunks_exact(CHUNK));
    let rest: u32 = left.remainder().iter().zip(right.remainder()).map(|(a, b)| square(*a, *b)).sum();
    let mut sum = u64::from(rest);
    for (a, b) in left.zip(right) {
        let (a, b): (&[u8; CHUNK], &[u8; CHUNK]) = (array(a), array(b));
        sum += u64::from((0..CHUNK).map(|i| square(a[i], b[i])).sum::<u32>());
    }
    sum
}

#[inline(always)]
fn square(a: u8, b: u8) -> u32 {
    let difference = i32::from(i16::from(a) - i16::from(b));
    (difference * difference) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
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

    proptest! {
        #[test]
        fn the_instructions_picked_do_not_change_the_sum(a in proptest::collection::vec(any::<u8>(), 0..900), shift in any::<u8>()) {
            let b: Vec<u8> = a.iter().map(|sample| sample.wrapping_mul(shift)).collect();
            let picked = widest(#[inline(always)] || squared_error(&a, &b));
            prop_assert_eq!(picked, squared_error(&a, &b));
        }
    }
}
