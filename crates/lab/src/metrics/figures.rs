//! Every figure of a summary as a number, for tables of many runs.

use serde_json::Value;

use super::Summary;

/// The keys of all numbers of a [`Summary`] that are figures of its run, nested ones with a dot, in its order. Not its
/// seed and the version of its keys, nor how fast it was played, which the machine determines.
pub const FIGURES: [&str; 55] = [
    "video_turns_after_s",
    "duration_s",
    "video_bitrate_bps",
    "wire_bitrate_bps",
    "padding_bitrate_bps",
    "utilization",
    "psnr_db",
    "ssim_db",
    "ssim_p25_db",
    "ms_ssim",
    "vmaf",
    "screen_psnr_db",
    "screen_ssim_db",
    "screen_ms_ssim",
    "screen_vmaf",
    "latency_p50_ms",
    "latency_p95_ms",
    "latency_mean_ms",
    "queue_delay_p95_ms",
    "one_way_delay_mean_ms",
    "estimate_accuracy",
    "estimate_bias",
    "frame_rate_fps",
    "shown_fps",
    "in_time_ratio",
    "stall_ratio",
    "packet_loss_ratio",
    "qoe_call",
    "qoe_driving",
    "tail_missing",
    "sharing.from_s",
    "sharing.until_s",
    "sharing.jain",
    "sharing.jain_by_second",
    "delivery.goodput_bps",
    "delivery.discard_ratio",
    "delivery.lost_frames",
    "delivery.lost_or_late_frames",
    "delivery.abu",
    "redundancy.fec_bitrate_bps",
    "redundancy.fec_share",
    "redundancy.ffre",
    "redundancy.protected_lost_frames",
    "redundancy.useful_padding_ratio",
    "redundancy.frcc",
    "redundancy.probes",
    "choices.better_share",
    "choices.lower_share",
    "choices.none_share",
    "choices.sender_states",
    "choices.receiver_states",
    "tcp.throughput_bps",
    "tcp.tfs",
    "tcp.tfs_of_tcp_alone",
    "bound_share",
];

/// The figures of a run in the order of [`FIGURES`]; `None` for one that does not apply.
pub fn figures(summary: &Summary) -> Vec<Option<f64>> {
    // Texts, numbers and lists of them have a form in JSON; a number that is none has null.
    let whole = serde_json::to_value(summary).unwrap_or_default();
    let of = |key: &&str| key.split('.').try_fold(&whole, |value, part| value.get(part)).and_then(Value::as_f64);
    FIGURES.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The paths of all numbers that a type of the schema has.
    fn numbers(schema: &Value, of: &Value, path: &str, found: &mut BTreeSet<String>) {
        let whole = |of: &Value| match of["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
            Some(name) => schema["$defs"][name].clone(),
            None => of.clone(),
        };
        let of = whole(of);
        let choices = of["anyOf"].as_array().cloned().unwrap_or_else(|| vec![of.clone()]);
        for choice in choices.iter().map(whole) {
            if ["number", "integer"].iter().any(|number| choice["type"] == *number) {
                found.insert(path.into());
            }
            for (key, of) in choice["properties"].as_object().into_iter().flatten() {
                numbers(schema, of, &format!("{path}.{key}"), found);
            }
        }
    }

    #[test]
    fn every_number_of_the_summarys_schema_is_a_figure_except_those_that_are_none() {
        let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/summary.schema.json"));
        let schema: Value = serde_json::from_str(text).unwrap();
        let mut found = BTreeSet::new();
        numbers(&schema, &schema, "", &mut found);
        let known = FIGURES.iter().chain(&["schema_version", "seed", "speed_x"]).map(|key| format!(".{key}"));
        assert_eq!(found, known.collect());
    }

    #[test]
    fn a_figure_is_found_by_its_key_and_absent_where_it_does_not_apply() {
        let mut run = Summary::empty("gcc", "2Mbps", 1);
        (run.video_bitrate_bps, run.bound_share) = (1.5e6, Some(f64::NAN));
        run.delivery = Some(crate::metrics::Delivery {
            goodput_bps: 1e6,
            discard_ratio: 0.5,
            lost_frames: 3,
            lost_or_late_frames: 4,
            abu: None,
        });
        let of = |key: &str| figures(&run)[FIGURES.iter().position(|known| *known == key).unwrap()];
        let keys = ["video_bitrate_bps", "delivery.lost_frames", "delivery.abu", "tcp.tfs", "bound_share"];
        assert_eq!(keys.map(of), [Some(1.5e6), Some(3.0), None, None, None]);
    }
}
