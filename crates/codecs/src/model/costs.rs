//! Bits and quality of frames of one size, including the quality already lost by scaling to it.

use thalweg_units::Size;

use super::content::Content;
use super::quality::{Curve, both};
use crate::seam::ModelledQuality;

/// The size for which contents are specified.
const REFERENCE: Size = Size::HD;

/// Costs at one size; recomputed when the size changes.
#[derive(Debug, Clone)]
pub struct Costs {
    /// The size of the source pictures and the encoded size.
    pub sizes: (Size, Size),
    /// Bits of a frame at the coarsest and at the finest quantiser.
    pub bounds: (f64, f64),
    /// The coarsest quantiser.
    pub coarsest: u8,
    /// Bits of a keyframe at the coarsest quantiser.
    pub keyframe_floor: f64,
    /// Curve over ln(bits of a frame), with the quality against the source at its own size.
    curve: Curve,
}

impl Costs {
    /// Computes the costs of pictures of `source` encoded at `encoded`, from the `curve` over bits per pixel at the
    /// reference size.
    pub fn new(content: &Content, curve: &Curve, source: Size, encoded: Size) -> Costs {
        let growth = libm::log(encoded.pixels() as f64 / REFERENCE.pixels() as f64);
        let offset = libm::log(REFERENCE.pixels() as f64) + content.size_exponent * growth;
        let smaller = encoded.pixels() < source.pixels();
        let scaled = smaller.then(|| {
            let sides = libm::log(encoded.pixels() as f64 / source.pixels() as f64) / 2.0;
            let shift = content.scaling_slope_db * (sides + std::f64::consts::LN_2);
            let [psnr_db, ssim_db] = content.half_size_db.map(|db| db + shift);
            ModelledQuality { psnr_db, ssim_db }
        });
        let curve = curve.moved(offset, |quality| {
            let [psnr_db, ssim_db] = content.per_size_db.map(|db| db * growth);
            let quality = ModelledQuality { psnr_db: quality.psnr_db + psnr_db, ssim_db: quality.ssim_db + ssim_db };
            let quality = scaled.map_or(quality, |scaled| both(quality, scaled));
            // Quality cannot be negative, however small the picture was made.
            ModelledQuality { psnr_db: quality.psnr_db.max(0.0), ssim_db: quality.ssim_db.max(0.0) }
        });
        let (coarsest, finest) = curve.range();
        Costs {
            sizes: (source, encoded),
            bounds: (libm::exp(coarsest), libm::exp(finest)),
            coarsest: curve.at(coarsest).0,
            keyframe_floor: content.keyframe_floor * libm::exp(offset),
            curve,
        }
    }

    /// Bits of a frame at a quantiser.
    pub fn bits_at(&self, quantizer: u8) -> f64 {
        libm::exp(self.curve.bits_at(quantizer))
    }

    /// Quantiser and quality of a frame of this many bits, against the source at its own size.
    pub fn quality(&self, bits: f64) -> (u8, ModelledQuality) {
        self.curve.at(libm::log(bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ContentPreset;

    #[test]
    fn smaller_pictures_cost_less_and_more_per_pixel_and_look_worse_at_the_same_quantizer() {
        let content = ContentPreset::Scene.content();
        let curve = Curve::new(&content.points).unwrap();
        let full = Costs::new(&content, &curve, Size::HD, Size::HD);
        let half = Costs::new(&content, &curve, Size::HD, Size::new(640, 360));
        // Measured floors: 2032 bytes at 720p, 775 at 360p.
        assert!((1990.0..2070.0).contains(&(full.bounds.0 / 8.0)), "{}", full.bounds.0 / 8.0);
        assert!((740.0..810.0).contains(&(half.bounds.0 / 8.0)), "{}", half.bounds.0 / 8.0);
        let quality = |costs: &Costs| costs.quality(costs.bits_at(40));
        assert_eq!((quality(&full).0, quality(&half).0), (40, 40));
        assert!(quality(&full).1.psnr_db - quality(&half).1.psnr_db > 4.0);
    }
}
