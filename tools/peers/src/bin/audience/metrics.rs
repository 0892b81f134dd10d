//! Metrics of a publisher (`/metrics`).

use serde_json::{Value, json};

/// The samples of a metric that have this label, or all of them.
fn samples<'a>(text: &'a str, name: &'a str, label: &'a str) -> impl Iterator<Item = f64> + 'a {
    let of = text.lines().filter(move |line| {
        line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' ']) && rest.contains(label))
    });
    of.filter_map(|line| line.rsplit_once(' ')?.1.parse().ok())
}

/// The least, the median and the most, in these units.
fn spread(samples: impl Iterator<Item = f64>, unit: f64) -> Value {
    let mut all: Vec<f64> = samples.collect();
    all.sort_by(f64::total_cmp);
    let at = |share: f64| all.get(((all.len().max(1) - 1) as f64 * share) as usize).map(|sample| sample / unit);
    json!({ "least": at(0.0), "median": at(0.5), "most": at(1.0) })
}

/// Summary of the publisher's state: for each viewer the delay of its packets and its sender's estimate, and the
/// datagrams per system call.
pub fn summary(text: &str) -> Value {
    const MILLI: f64 = 1e-3;
    const MEGABIT: f64 = 125_000.0;
    let late = |quantile: &str| {
        let label = format!("quantile=\"{quantile}\"");
        spread(samples(text, "thalweg_pacing_lateness_seconds", &label), MILLI)
    };
    let per_call = |direction: &str| {
        let label = format!("direction=\"{direction}\"");
        let sum = |name| samples(text, name, &label).sum::<f64>();
        sum("thalweg_udp_system_calls_total") / sum("thalweg_udp_datagrams_total")
    };
    let sum = |name: &str| samples(text, name, "").sum::<f64>();
    json!({
        "lateness_ms": { "p50": late("0.5"), "p99": late("0.99") },
        "calls_a_datagram": { "sent": per_call("sent"), "received": per_call("received") },
        "capacity_mbps": spread(samples(text, "thalweg_capacity_bytes_per_second", ""), MEGABIT),
        "target_mbps": spread(samples(text, "thalweg_target_bytes_per_second", ""), MEGABIT),
        "keyframes": spread(samples(text, "thalweg_keyframes_total", ""), 1.0),
        "skipped": spread(samples(text, "thalweg_pictures_skipped_total", ""), 1.0),
        "lost": sum("thalweg_packets_lost_total"),
        "encoders": samples(text, "thalweg_shared_encoder_viewers", "").count(),
        "encoder_mbps": spread(samples(text, "thalweg_shared_encoder_bytes_per_second", ""), MEGABIT),
    })
}
