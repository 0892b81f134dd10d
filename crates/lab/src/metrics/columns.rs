//! The columns of a table of runs, for all outputs.

use super::Summary;

/// One column of a table of results.
pub struct Column {
    /// The figure's name.
    pub name: &'static str,
    /// Its unit; empty if it has none.
    pub unit: &'static str,
    /// The value for a run; `None` when the figure does not apply.
    pub cell: fn(&Summary) -> Option<String>,
}

/// The columns after the scheme's name, in order: columns on redundancy only if one of the runs has any.
pub fn columns<'a>(runs: impl IntoIterator<Item = &'a Summary>) -> Vec<&'static Column> {
    let mut runs = runs.into_iter();
    let redundant =
        runs.any(|run| run.redundancy.is_some() || run.competitors.iter().any(|run| run.redundancy.is_some()));
    ALWAYS.iter().chain(REDUNDANCY.iter().filter(|_| redundant)).collect()
}

const ALWAYS: [Column; 15] = [
    column("video", "Mbps", |run| mbps(run.video_bitrate_bps)),
    column("wire", "Mbps", |run| mbps(run.wire_bitrate_bps)),
    column("padding", "Mbps", |run| mbps(run.padding_bitrate_bps)),
    column("utilisation", "", |run| run.utilization.map(|share| format!("{:.0}%", share * 100.0))),
    column("PSNR", "dB", |run| digits(run.psnr_db, 2)),
    column("SSIM", "dB", |run| digits(run.ssim_db, 2)),
    column("p50", "ms", |run| digits(run.latency_p50_ms, 0)),
    column("p95", "ms", |run| digits(run.latency_p95_ms, 0)),
    column("mean", "ms", |run| digits(run.latency_mean_ms, 0)),
    column("estimate", "accuracy", |run| run.estimate_accuracy.and_then(percent)),
    column("fps", "", |run| digits(Some(run.frame_rate_fps), 1)),
    column("stalls", "", |run| percent(run.stall_ratio)),
    column("loss", "", |run| percent(run.packet_loss_ratio)),
    column("call", "QoE", |run| digits(run.qoe_call, 2)),
    column("driving", "QoE", |run| digits(run.qoe_driving, 2)),
];

const REDUNDANCY: [Column; 7] = [
    column("goodput", "Mbps", |run| mbps(run.delivery?.goodput_bps)),
    column("late", "", |run| percent(run.delivery?.discard_ratio)),
    column("lost", "frames", |run| Some(run.delivery?.lost_frames.to_string())),
    column("FEC", "media", |run| percent(run.redundancy?.fec_share)),
    column("FFRE", "", |run| percent(run.redundancy?.ffre?)),
    column("useful", "padding", |run| percent(run.redundancy?.useful_padding_ratio)),
    column("FRCC", "", |run| percent(run.redundancy?.frcc?)),
];

const fn column(name: &'static str, unit: &'static str, cell: fn(&Summary) -> Option<String>) -> Column {
    Column { name, unit, cell }
}

fn mbps(bps: f64) -> Option<String> {
    digits(Some(bps / 1e6), 2)
}

fn percent(share: f64) -> Option<String> {
    Some(format!("{:.1}%", share * 100.0))
}

fn digits(value: Option<f64>, digits: usize) -> Option<String> {
    value.map(|value| format!("{value:.digits$}"))
}
