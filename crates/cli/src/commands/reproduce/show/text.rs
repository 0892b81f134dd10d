//! Figures and their keys, formatted for a table.

use thalweg_papers::Spread;

/// A figure for a table: rates in Mbps, shares in percent, differences of shares in points.
pub(super) fn text(key: &str, value: Option<f64>) -> String {
    let Some(value) = value else { return "-".into() };
    match key {
        "stall_gain" | "estimate_accuracy_gain" => format!("{:+.1}", value * 100.0),
        _ if key.ends_with("_better_share") || key == "taller_share" => format!("{:.0}%", value * 100.0),
        _ if key.starts_with("estimate_bias") => format!("{:+.1}%", value * 100.0),
        _ if is_small_rate(key) => format!("{:.1}", value / 1e3),
        _ if key.ends_with("_bps") => format!("{:.2}", value / 1e6),
        _ if is_share(key) => format!("{:.1}%", value * 100.0),
        _ if key.ends_with("_frames") => format!("{value:.0}"),
        _ if key.ends_with("_ms") || key.ends_with("_bytes") => format!("{value:.0}"),
        _ if key.starts_with("jain") => format!("{value:.3}"),
        _ => format!("{value:.2}"),
    }
}

/// A mean with its deviation, if it has one.
pub(super) fn with_sigma(key: &str, of: Option<Spread>) -> String {
    let mean = text(key, of.map(|spread| spread.mean));
    match of.and_then(|spread| spread.sigma) {
        Some(sigma) => format!("{mean}±{}", text(key, Some(sigma)).trim_start_matches('+').trim_end_matches('%')),
        None => mean,
    }
}

/// Returns true if the papers give this rate in tens or hundreds of kbps.
fn is_small_rate(key: &str) -> bool {
    ["goodput_bps", "fec_bitrate_bps", "padding_bitrate_bps", "tcp_throughput_bps"]
        .iter()
        .any(|small| key.ends_with(small))
}

fn is_share(key: &str) -> bool {
    key.starts_with("utilization") && !key.ends_with("ratio")
        || key.contains("accuracy")
        || key == "estimate_deviation"
        || ["_loss_ratio", "discard_ratio", "late_ratio", "fec_share", "sent_share", "ffre", "frcc"]
            .iter()
            .any(|end| key.ends_with(end))
        || ["stall_ratio", "share", "in_gcc", "abu", "tfs", "tfs_of_tcp_alone"].contains(&key)
}

/// A key as a column heading.
pub(super) fn head(key: &str) -> String {
    let points = if key == "stall_gain" || key == "estimate_accuracy_gain" { " points" } else { "" };
    let rate = if is_small_rate(key) { " kbps" } else { " Mbps" };
    key.replace("_bps", rate).replace("utilization", "used").replace('_', " ") + points
}
