//! Metrics in decibels.

/// Identical pictures count as this, in dB (specs/metrics.md 2).
pub const PSNR_CAP: f64 = 100.0;

/// -10 log10(1 - SSIM): 0.99 is 20 dB; at most [`PSNR_CAP`].
pub fn ssim_db(ssim: f64) -> f64 {
    if ssim >= 1.0 { PSNR_CAP } else { (-10.0 * libm::log10(1.0 - ssim)).min(PSNR_CAP) }
}

/// The SSIM that is `db` decibels: the inverse of [`ssim_db`].
pub fn ssim_of_db(db: f64) -> f64 {
    1.0 - libm::pow(10.0, -db / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decibels_of_the_spec_come_out() {
        for (value, db) in [(0.99, 20.0), (0.968, 14.95), (0.997, 25.23)] {
            assert!((ssim_db(value) - db).abs() < 0.005, "{value}: {}", ssim_db(value));
        }
        assert_eq!(ssim_db(1.0), 100.0);
        assert!((ssim_of_db(20.0) - 0.99).abs() < 1e-12 && (ssim_db(ssim_of_db(13.7)) - 13.7).abs() < 1e-9);
    }
}
