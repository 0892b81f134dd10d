//! The rate-quality curve: quantiser, PSNR and SSIM as a function of bits per pixel.
//!
//! Values between measured operating points are linear in the logarithm of the bits; outside them they are constant,
//! because neither a coarser nor a finer quantiser is allowed.

use serde::{Deserialize, Serialize};
use thalweg_units::{ConfigError, check};

use crate::seam::ModelledQuality;

/// The encoder's result at one rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperatingPoint {
    /// Bits per pixel of a delta frame.
    pub bits_per_pixel: f64,
    /// The quantiser in VP8's scale, y_ac_qi 0..=127.
    pub quantizer: u8,
    /// PSNR of luma in dB.
    pub psnr_db: f64,
    /// SSIM of luma in dB.
    pub ssim_db: f64,
}

/// A curve through operating points.
#[derive(Debug, Clone)]
pub struct Curve {
    knots: Vec<Knot>,
}

#[derive(Debug, Clone, Copy)]
struct Knot {
    /// ln(bits per pixel), or ln(bits of a frame) at one size.
    bits: f64,
    quantizer: f64,
    quality: ModelledQuality,
}

impl Curve {
    /// Builds the curve through `points`.
    ///
    /// # Errors
    /// When there are fewer than two points, or from one to the next bits do not increase, quantisers do not decrease
    /// or quality decreases.
    pub fn new(points: &[OperatingPoint]) -> Result<Curve, ConfigError> {
        let ordered = |pair: &[OperatingPoint]| {
            let (low, high) = (pair[0], pair[1]);
            low.bits_per_pixel < high.bits_per_pixel
                && low.quantizer > high.quantizer
                && low.psnr_db <= high.psnr_db
                && low.ssim_db <= high.ssim_db
        };
        let real = |point: &OperatingPoint| {
            point.bits_per_pixel > 0.0
                && point.bits_per_pixel <= 24.0
                && point.psnr_db.is_finite()
                && point.ssim_db.is_finite()
        };
        check("content.points", format_args!("{points:?}")).is(
            points.len() >= 2 && points.iter().all(real) && points.windows(2).all(ordered),
            "two or more, bits above 0 to 24 and rising, quantisers falling, PSNR and SSIM not falling",
        )?;
        let knot = |point: &OperatingPoint| Knot {
            bits: libm::log(point.bits_per_pixel),
            quantizer: f64::from(point.quantizer),
            quality: ModelledQuality { psnr_db: point.psnr_db, ssim_db: point.ssim_db },
        };
        Ok(Curve { knots: points.iter().map(knot).collect() })
    }

    /// The same curve for frames of different bits: adds `offset` to the logarithm of the bits, and applies `change` to
    /// the quality.
    pub fn moved(&self, offset: f64, change: impl Fn(ModelledQuality) -> ModelledQuality) -> Curve {
        let knot = |knot: &Knot| Knot { bits: knot.bits + offset, quality: change(knot.quality), ..*knot };
        Curve { knots: self.knots.iter().map(knot).collect() }
    }

    /// ln(bits) at the coarsest and at the finest quantiser.
    pub fn range(&self) -> (f64, f64) {
        (self.knots[0].bits, self.knots[self.knots.len() - 1].bits)
    }

    /// Quantiser and quality at ln(bits).
    pub fn at(&self, bits: f64) -> (u8, ModelledQuality) {
        let (low, high) = self.around(|knot| knot.bits < bits);
        let share = ((bits - low.bits) / (high.bits - low.bits)).clamp(0.0, 1.0);
        let between = |low: f64, high: f64| low + share * (high - low);
        let quality = ModelledQuality {
            psnr_db: between(low.quality.psnr_db, high.quality.psnr_db),
            ssim_db: between(low.quality.ssim_db, high.quality.ssim_db),
        };
        (libm::round(between(low.quantizer, high.quantizer)) as u8, quality)
    }

    /// ln(bits) at this quantiser.
    pub fn bits_at(&self, quantizer: u8) -> f64 {
        let quantizer = f64::from(quantizer);
        let (low, high) = self.around(|knot| knot.quantizer > quantizer);
        let share = ((quantizer - low.quantizer) / (high.quantizer - low.quantizer)).clamp(0.0, 1.0);
        low.bits + share * (high.bits - low.bits)
    }

    /// The two knots between which `below` becomes false; beyond the curve, the two knots at that end.
    fn around(&self, below: impl Fn(&Knot) -> bool) -> (&Knot, &Knot) {
        let last = self.knots.len() - 1;
        let high = self.knots.iter().position(|knot| !below(knot)).unwrap_or(last).clamp(1, last);
        (&self.knots[high - 1], &self.knots[high])
    }
}

/// The quality after two independent losses, each given as if it were alone: their squared errors add.
pub fn both(a: ModelledQuality, b: ModelledQuality) -> ModelledQuality {
    let add = |a: f64, b: f64| -10.0 * libm::log10(libm::exp10(-a / 10.0) + libm::exp10(-b / 10.0));
    ModelledQuality { psnr_db: add(a.psnr_db, b.psnr_db), ssim_db: add(a.ssim_db, b.ssim_db) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ContentPreset;
    use proptest::prelude::*;

    fn curve() -> Curve {
        Curve::new(&ContentPreset::Scene.content().points).unwrap()
    }

    #[test]
    fn the_curve_goes_through_what_was_measured_and_stays_there_outside() {
        for point in ContentPreset::TalkingHead.content().points {
            let curve = Curve::new(&ContentPreset::TalkingHead.content().points).unwrap();
            let (quantizer, quality) = curve.at(libm::log(point.bits_per_pixel));
            assert_eq!(quantizer, point.quantizer);
            assert!((quality.psnr_db - point.psnr_db).abs() < 1e-9 && (quality.ssim_db - point.ssim_db).abs() < 1e-9);
            assert!((curve.bits_at(point.quantizer) - libm::log(point.bits_per_pixel)).abs() < 1e-9);
        }
        assert_eq!(curve().at(-20.0).1.psnr_db, 34.07);
        assert_eq!(curve().at(3.0).1.psnr_db, 47.72);
        assert_eq!(curve().at(-20.0).0, 106);
    }

    #[test]
    fn two_equal_losses_cost_three_decibels_and_a_small_one_next_to_nothing() {
        let quality = |db: f64| ModelledQuality { psnr_db: db, ssim_db: db };
        assert!((both(quality(40.0), quality(40.0)).psnr_db - 36.9897).abs() < 1e-4);
        assert!((both(quality(40.0), quality(70.0)).ssim_db - 39.9957).abs() < 1e-4);
    }

    #[test]
    fn points_out_of_order_are_refused_with_the_rule() {
        let mut points = ContentPreset::Scene.content().points;
        points.swap(1, 2);
        let message = Curve::new(&points).err().unwrap().to_string();
        assert!(message.contains("content.points") && message.contains("bits above 0 to 24 and rising"), "{message}");
        assert!(Curve::new(&points[..1]).is_err());
    }

    proptest! {
        #[test]
        fn more_bits_never_look_worse(a in -6.0f64..2.0, b in -6.0f64..2.0) {
            let curve = curve();
            let (low, high) = (curve.at(a.min(b)), curve.at(a.max(b)));
            prop_assert!(low.1.psnr_db <= high.1.psnr_db && low.1.ssim_db <= high.1.ssim_db && low.0 >= high.0);
        }

        #[test]
        fn a_quantizer_and_its_bits_belong_together(quantizer in 2u8..=106) {
            let curve = curve();
            prop_assert_eq!(curve.at(curve.bits_at(quantizer)).0, quantizer);
        }
    }
}
