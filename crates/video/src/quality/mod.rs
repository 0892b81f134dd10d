//! Similarity of two pictures: specs/metrics.md 2, on luma.
//!
//! Every metric but VMAF, which another program computes, is a fixed sequence of integer and IEEE operations: the same
//! bits on every machine.

mod decibels;
mod error;
mod gaussian_ssim;
mod ms_ssim;
mod vmaf;
mod window_ssim;

use crate::picture::Picture;
pub use decibels::{PSNR_CAP, ssim_db, ssim_of_db};
pub use error::{mean_squared_error, psnr, psnr_of};
pub use gaussian_ssim::ssim_daala;
pub use ms_ssim::ms_ssim;
pub use vmaf::{Scores, Vmaf, VmafError};
pub use window_ssim::ssim;

/// The variant of SSIM (Wang et al. 2004): they differ by up to a decibel, so every figure names its variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ssim {
    /// 8x8 windows every 4 samples, as x264 and ffmpeg measure it: [`ssim()`].
    #[default]
    Window,
    /// A Gaussian window that grows with the picture, as Daala's tools measure it (what Salsify reports): [`ssim_daala`].
    Daala,
}

impl Ssim {
    /// SSIM of luma by this variant, 1 for identical pictures.
    ///
    /// # Panics
    /// When the sizes differ (scale first); for [`Ssim::Window`], when they are below 8x8.
    pub fn measure(self, a: &Picture, b: &Picture) -> f64 {
        match self {
            Ssim::Window => ssim(a, b),
            Ssim::Daala => ssim_daala(a, b),
        }
    }
}

fn assert_same_size(a: &Picture, b: &Picture) {
    assert_eq!(a.size(), b.size(), "pictures of different sizes are compared after scaling");
}
