//! The table of results.

use thalweg_lab::metrics::Summary;

/// Prints one row for each run, and one for each sender it competed with.
pub(crate) fn print(runs: &[Summary]) {
    println!(
        "{:20} {:>8} {:>8} {:>8} {:>6} {:>7} {:>7} {:>8} {:>8} {:>8} {:>6} {:>7} {:>5}",
        "scheme", "video", "wire", "filler", "used", "PSNR", "SSIM", "p50", "p95", "mean", "fps", "stalls", "QoE"
    );
    println!(
        "{:20} {:>8} {:>8} {:>8} {:>6} {:>7} {:>7} {:>8} {:>8} {:>8} {:>6} {:>7} {:>5}",
        "", "Mbps", "Mbps", "Mbps", "", "dB", "dB", "ms", "ms", "ms", "", "", "1-5"
    );
    for run in runs {
        row(&run.scheme, run);
        for competitor in &run.competitors {
            row(&format!("  and {}", competitor.scheme), competitor);
        }
    }
}

fn row(name: &str, run: &Summary) {
    let mbps = |bps: f64| format!("{:.2}", bps / 1e6);
    let optional = |value: Option<f64>, digits: usize| value.map_or("-".into(), |value| format!("{value:.digits$}"));
    println!(
        "{:20} {:>8} {:>8} {:>8} {:>6} {:>7} {:>7} {:>8} {:>8} {:>8} {:>6.1} {:>6.1}% {:>5}",
        name,
        mbps(run.video_bitrate_bps),
        mbps(run.wire_bitrate_bps),
        mbps(run.filler_bitrate_bps),
        run.utilization.map_or("-".into(), |share| format!("{:.0}%", share * 100.0)),
        optional(run.psnr_db, 2),
        optional(run.ssim_db, 2),
        optional(run.latency_p50_ms, 0),
        optional(run.latency_p95_ms, 0),
        optional(run.latency_mean_ms, 0),
        run.frame_rate_fps,
        run.stall_ratio * 100.0,
        optional(run.qoe_call, 2),
    );
}
