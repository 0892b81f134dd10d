//! Results that a reader may take for a fault of the laboratory, and where they are answered.

use super::{Summary, mean};

/// 95th percentile of the frame latency above which nobody can talk, in ms. ITU-T G.114 (2003) wants at most 400 ms one way; of
/// a second there is no doubt.
pub const TOO_LATE_MS: f64 = 1000.0;

/// Share of the link below which WebRTC's congestion control looks like a straw man.
const UNUSED: f64 = 0.5;

/// Sentences on results that look odd and are none of the laboratory's doing, each with its place in docs/faq.md.
pub fn doubts<'a>(runs: impl IntoIterator<Item = &'a Summary>) -> Vec<String> {
    let (mut used, mut late) = (Vec::new(), Vec::new());
    for run in runs {
        match run.scheme.as_str() {
            "gcc" => used.extend(run.utilization),
            "copa" => late.extend(run.latency_p95_ms),
            _ => {}
        }
    }
    let gcc = mean(used).is_some_and(|share| share < UNUSED);
    let copa = mean(late).is_some_and(|late| late > TOO_LATE_MS);
    let gcc = gcc.then_some(
        "gcc leaves half of the link or more unused, and so does Chromium: docs/faq.md#is-your-gcc-a-straw-man",
    );
    let copa = copa.then_some(
        "copa is Copa alone, whose frames wait in the sender: docs/faq.md#why-is-a-frame-of-copa-seconds-late",
    );
    gcc.into_iter().chain(copa).map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_over_runs_is_what_is_answered() {
        let run = |scheme: &str, utilization: f64, latency_p95_ms: f64| -> Summary {
            serde_json::from_value(serde_json::json!({
                "scheme": scheme, "trace": "a", "video": "scene", "seed": 1, "duration_s": 60.0, "video_bitrate_bps": 1e6,
                "wire_bitrate_bps": 2e6, "padding_bitrate_bps": 0.0, "utilization": utilization, "frame_rate_fps": 30.0,
                "latency_p95_ms": latency_p95_ms, "stall_ratio": 0.0, "packet_loss_ratio": 0.0, "tail_missing": 0,
                "events_fingerprint": "",
            }))
            .unwrap()
        };
        let said = |runs: &[Summary]| doubts(runs).len();
        assert_eq!(said(&[run("gcc", 0.4, 300.0), run("gcc", 0.7, 300.0), run("copa", 0.4, 900.0)]), 0);
        assert_eq!(said(&[run("gcc", 0.4, 300.0), run("copa", 0.9, 3000.0), run("sqp", 0.1, 5000.0)]), 2);
    }
}
