//! Figures and their keys as a table has them.

/// A figure for a table: rates in Mbps, shares in percent, differences of shares in points.
pub(super) fn text(key: &str, value: Option<f64>) -> String {
    let Some(value) = value else { return "-".into() };
    match key {
        "stall_gain" | "estimate_accuracy_gain" => format!("{:+.1}", value * 100.0),
        "estimate_bias" => format!("{:+.1}%", value * 100.0),
        _ if key.ends_with("_bps") => format!("{:.2}", value / 1e6),
        _ if is_share(key) => format!("{:.1}%", value * 100.0),
        _ if key.ends_with("_ms") || key.ends_with("_bytes") => format!("{value:.0}"),
        _ if key.starts_with("jain") => format!("{value:.3}"),
        _ => format!("{value:.2}"),
    }
}

fn is_share(key: &str) -> bool {
    key.starts_with("utilization") && !key.ends_with("ratio")
        || key.contains("accuracy")
        || ["stall_ratio", "share", "in_gcc"].contains(&key)
}

/// A key as the head of a column.
pub(super) fn head(key: &str) -> String {
    let points = if key == "stall_gain" || key == "estimate_accuracy_gain" { " points" } else { "" };
    key.replace("_bps", " Mbps").replace("utilization", "used").replace('_', " ") + points
}

/// A head no wider than its column.
pub(super) fn wrap(head: &str) -> String {
    head.replace("latency ", "")
        .replace("video ", "")
        .replace("frame rate ", "")
        .replace(" after first", "")
        .replace("estimate ", "")
        .replace("one way", "one-way")
        .replace(" delay mean", "")
        .chars()
        .take(14)
        .collect()
}
