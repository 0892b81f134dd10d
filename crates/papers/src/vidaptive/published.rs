//! The paper's numbers of Vidaptive against GCC (Figures 7 to 9 and 13), for the recorded links and for them by whole
//! seconds.

use super::super::Published;
use super::BASE;

pub(super) const FIG7: &str = "section 5.2, Fig. 7";
const FIG8: &str = "section 5.2, Fig. 8";
pub(super) const FIG9: &str = "section 5.2, Fig. 9";
const FIG13: &str = "section 5.3, Fig. 13";
/// The schemes that the paper's numbers are about.
pub(super) const OURS: &str = "vidaptive";
const ROCC: &str = "vidaptive:rocc";

/// Published results of Figure 7.
pub(super) fn of_fig7() -> Vec<Published> {
    vec![
        says(OURS, "psnr_gain_db", 1.6, FIG7).at_least(),
        says(OURS, "latency_p95_better_share", 0.625, FIG7).at_least(),
        says(OURS, "latency_p95_gain_ms", -2700.0, FIG7).at_most(),
        says(OURS, "latency_p95_gain_max_ms", 384.0, "section 1").at_most(),
        says(OURS, "both_better_share", 0.5, FIG7).within(0.2),
        says(OURS, "one_better_share", 1.0, FIG7),
    ]
}

/// Published results of Figure 8.
pub(super) fn of_fig8() -> Vec<Published> {
    vec![
        says(OURS, "pooled_psnr_gain_db", 1.9, FIG8).at_least(),
        says(OURS, "pooled_psnr_p95_gain_db", 2.2, FIG8).at_least(),
        says(OURS, "pooled_psnr_gain_min_db", 0.0, FIG8).at_least(),
        says(BASE, "pooled_latency_p50_ms", 148.0, FIG8),
        says(OURS, "pooled_latency_p50_ms", 195.0, FIG8),
        says(BASE, "pooled_latency_p95_ms", 4120.0, FIG8),
        says(OURS, "pooled_latency_p95_ms", 1433.0, FIG8).at_most(),
        says(OURS, "pooled_latency_p95_gain_ms", -2687.0, FIG8).at_most(),
    ]
}

/// Published results of Figure 9.
pub(super) fn of_fig9() -> Vec<Published> {
    vec![
        says(OURS, "utilization_ratio", 2.5, FIG9).at_least(),
        says(OURS, "video_bitrate_ratio", 2.0, FIG9),
        says(OURS, "video_bitrate_ratio_max", 2.7, FIG9),
        says(OURS, "latency_p95_ratio_min", 0.5, FIG9).at_most(),
        says(OURS, "latency_p95_better_share", 0.5, FIG9).at_least(),
        says(OURS, "frame_rate_ratio", 0.9, FIG9).at_least(),
        says(OURS, "frame_rate_ratio_min", 0.7, FIG9).at_least(),
        says(OURS, "frame_rate_fps", 27.0, FIG9),
        says(OURS, "frame_rate_min_fps", 21.0, FIG9).at_least(),
    ]
}

/// Published results of Figure 13.
pub(super) fn of_fig13() -> Vec<Published> {
    vec![
        says(ROCC, "latency_p95_better_share", 0.5, FIG13).at_least(),
        says(ROCC, "utilization_ratio", 3.0, FIG13).at_least(),
        says(ROCC, "video_bitrate_ratio", 2.0, FIG13),
        says(ROCC, "latency_p95_ratio_min", 0.5, FIG13).at_most(),
        says(ROCC, "latency_p95_gain_max_ms", 360.0, FIG13).at_most(),
        says(ROCC, "frame_rate_ratio", 0.84, FIG13).at_least(),
        says(ROCC, "frame_rate_ratio_min", 0.7, FIG13).at_least(),
        says(ROCC, "frame_rate_fps", 25.0, FIG13),
        says(ROCC, "frame_rate_min_fps", 21.0, FIG13).at_least(),
    ]
}

pub(super) const fn says(scheme: &'static str, key: &'static str, value: f64, source: &'static str) -> Published {
    Published::new(None, scheme, key, value, source)
}
