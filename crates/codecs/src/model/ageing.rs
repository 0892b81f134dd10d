//! Quality of a picture that stays on the screen, compared with the pictures that the camera takes meanwhile.

use serde::{Deserialize, Serialize};
use thalweg_units::{ConfigError, Span, check};

use super::quality::both;
use crate::seam::ModelledQuality;

/// How pictures of the content differ from later ones, PSNR and SSIM of luma in dB: `cargo run --release -p
/// thalweg-calibrate -- fit-model ageing` prints the mean by age, which falls with the logarithm of the age.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ageing {
    /// A picture beside the next one at 30 fps, 5 to 100.
    pub next_db: [f64; 2],
    /// How much less that is when the age grows by a factor e, 0 to 20.
    pub fall_db: [f64; 2],
    /// A grey picture beside the content: what stands on the screen before anything is shown, 0 to 100.
    pub grey_db: [f64; 2],
}

/// The age at which `next_db` applies.
const NEXT: Span = Span::from_nanos(33_333_333);
/// How many times that the oldest measured is; older ones are taken for as old.
const OLDEST: f64 = 30.0;

impl Ageing {
    /// Checks that the parameters are in range.
    ///
    /// # Errors
    /// When a number is outside its range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        for place in 0..2 {
            check("content.ageing.next_db", self.next_db[place]).within(5.0..=100.0, "25")?;
            check("content.ageing.fall_db", self.fall_db[place]).within(0.0..=20.0, "1.5")?;
            check("content.ageing.grey_db", self.grey_db[place]).within(0.0..=100.0, "14")?;
        }
        Ok(())
    }

    /// The quality of a frame this long after it was the right one to show: what coding lost and what changed since are
    /// independent. No picture is worse than none, as pixels have it (docs/codec/measured.md): a coarse and old one is
    /// still more like the content than grey is.
    pub fn after(&self, quality: ModelledQuality, age: Span) -> ModelledQuality {
        let aged = self.aged(quality, age);
        let [psnr_db, ssim_db] = self.grey_db;
        ModelledQuality { psnr_db: aged.psnr_db.max(psnr_db), ssim_db: aged.ssim_db.max(ssim_db) }
    }

    fn aged(&self, quality: ModelledQuality, age: Span) -> ModelledQuality {
        if age <= Span::ZERO {
            return quality;
        }
        let growth = libm::log((age.as_secs_f64() / NEXT.as_secs_f64()).min(OLDEST));
        let aged = |place: usize| (self.next_db[place] - self.fall_db[place] * growth).max(0.0);
        both(quality, ModelledQuality { psnr_db: aged(0), ssim_db: aged(1) })
    }

    /// The quality of a screen on which nothing was shown yet.
    pub fn blank(&self) -> ModelledQuality {
        let [psnr_db, ssim_db] = self.grey_db;
        ModelledQuality { psnr_db, ssim_db }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_worth_less_the_longer_it_stands_for_as_long_as_was_measured() {
        let ageing = Ageing { next_db: [26.0, 8.0], fall_db: [2.0, 1.0], grey_db: [14.0, 1.0] };
        let perfect = ModelledQuality { psnr_db: 100.0, ssim_db: 100.0 };
        let after = |intervals: i64| ageing.after(perfect, NEXT * intervals);
        assert_eq!(after(0), perfect);
        let near = |found: ModelledQuality, psnr_db: f64, ssim_db: f64| {
            (found.psnr_db - psnr_db).abs() < 0.01 && (found.ssim_db - ssim_db).abs() < 0.01
        };
        assert!(near(after(1), 26.0, 8.0), "{:?}", after(1));
        // ln 8 is 2.079.
        assert!(near(after(8), 26.0 - 4.159, 8.0 - 2.079), "{:?}", after(8));
        // ln 30 is 3.401.
        assert!(near(after(10_000), 26.0 - 6.802, 8.0 - 3.401), "{:?}", after(10_000));
        // Two equal losses cost 3 dB.
        let coded = ModelledQuality { psnr_db: 26.0, ssim_db: 8.0 };
        assert!(near(ageing.after(coded, NEXT), 22.99, 4.99));
        assert_eq!(ageing.blank(), ModelledQuality { psnr_db: 14.0, ssim_db: 1.0 });
        // Nothing on the screen is the worst there is.
        let poor = ModelledQuality { psnr_db: 15.0, ssim_db: -0.1 };
        assert_eq!(
            [0, 30].map(|intervals| ageing.after(poor, NEXT * intervals)),
            [ModelledQuality { psnr_db: 15.0, ssim_db: 1.0 }, ageing.blank(),]
        );
    }
}
