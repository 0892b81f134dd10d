//! Tests on recorded clips, with the helpers of the `coded` tests.

#[allow(dead_code, unused_imports)] // Its own tests are another target's.
#[path = "coded/mod.rs"]
mod coded;

use coded::av_metrics::a_coded_clip_has_the_psnr_and_ssim_of_av_metrics;

thalweg_data::data_tests! {
    ["video"] => [a_coded_clip_has_the_psnr_and_ssim_of_av_metrics];
}
