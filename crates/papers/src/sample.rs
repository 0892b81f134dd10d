//! Readings of runs, and their statistics over several seeds.

use super::{Distribution, Reading};
use thalweg_lab::metrics::Summary;
use thalweg_lab::outcome::{FrameRecord, Outcome};
use thalweg_lab::statistics::mean_and_deviation;

/// The readings of one run: everything that is kept of a run when there are many.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Its summary.
    pub summary: Summary,
    pub(super) values: Vec<(&'static str, Option<f64>)>,
    /// The values of each distribution that the figure asks for.
    pub(super) distributed: Vec<(Distribution, Vec<f32>)>,
    /// Where heights are among them, the lines of each picture, 0 for one that was not sent.
    pub(super) heights: Vec<u16>,
}

/// Readings by which schemes are compared, in addition to a figure's own ([`compare`]).
const COMPARED: [Reading; 12] = [
    Reading::VideoBitrate,
    Reading::WireBitrate,
    Reading::Utilization,
    Reading::Psnr,
    Reading::Ssim,
    Reading::LatencyMedian,
    Reading::LatencyP95,
    Reading::LatencyMean,
    Reading::FrameRate,
    Reading::Stalls,
    Reading::LateFrames,
    Reading::EstimateAccuracy,
];

impl Sample {
    /// Takes `readings`, those for comparing schemes, and distributions from a run.
    pub fn of(outcome: &Outcome, readings: &[Reading], distributions: &[Distribution]) -> Sample {
        let values = readings.iter().chain(&COMPARED).map(|reading| (reading.key(), reading.of(outcome)));
        let distributed = distributions.iter().map(|of| (*of, of.of(outcome))).collect();
        let sent = |frame: &FrameRecord| if frame.queued_s.is_some() { frame.height } else { 0 };
        let frames = if distributions.contains(&Distribution::Height) { &outcome.frames[..] } else { &[] };
        let heights = frames.iter().map(sent).collect();
        Sample { summary: outcome.summary.clone(), values: values.collect(), distributed, heights }
    }

    /// The keys of what a sample has of a run.
    pub(super) fn keys(readings: &[Reading]) -> Vec<&'static str> {
        readings.iter().chain(&COMPARED).map(|reading| reading.key()).collect()
    }

    /// The values of a distribution; none where the figure did not ask for it.
    pub fn values_of(&self, of: Distribution) -> &[f32] {
        self.distributed.iter().find(|(known, _)| *known == of).map_or(&[], |(_, values)| values)
    }

    /// The reading with this key; `None` if it is missing or does not apply.
    pub fn value(&self, key: &str) -> Option<f64> {
        self.values.iter().find(|(known, _)| *known == key)?.1
    }
}

/// Statistics over several runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, with n - 1; `None` for a single run.
    pub sigma: Option<f64>,
    /// Number of runs.
    pub runs: usize,
}

/// Mean and deviation of the reading `key`, over runs to which it applies; `None` if there are none.
pub fn spread(samples: &[&Sample], key: &str) -> Option<Spread> {
    let values: Vec<f64> = samples.iter().filter_map(|sample| sample.value(key)).collect();
    let (mean, sigma) = mean_and_deviation(&values)?;
    Some(Spread { mean, sigma, runs: values.len() })
}

/// Mean of the reading `key`; `None` if it applies to no run.
pub fn mean(samples: &[&Sample], key: &str) -> Option<f64> {
    spread(samples, key).map(|spread| spread.mean)
}

/// Compares one scheme with another over the same links, by the conventions of specs/metrics.md 10: differences in dB,
/// ms and points of a share, ratios of everything else, each of the means over links.
pub fn compare(ours: &[&Sample], base: &[&Sample]) -> Vec<(&'static str, Option<f64>)> {
    let both = |reading: Reading| Some((mean(ours, reading.key())?, mean(base, reading.key())?));
    let ratio = |reading| both(reading).filter(|(_, base)| *base > 0.0).map(|(ours, base)| ours / base);
    let gain = |reading| both(reading).map(|(ours, base)| ours - base);
    vec![
        ("video_bitrate_ratio", ratio(Reading::VideoBitrate)),
        ("wire_bitrate_ratio", ratio(Reading::WireBitrate)),
        ("utilization_ratio", ratio(Reading::Utilization)),
        ("psnr_gain_db", gain(Reading::Psnr)),
        ("ssim_gain_db", gain(Reading::Ssim)),
        ("latency_p50_gain_ms", gain(Reading::LatencyMedian)),
        ("latency_p95_gain_ms", gain(Reading::LatencyP95)),
        ("latency_p95_ratio", ratio(Reading::LatencyP95)),
        ("latency_mean_gain_ms", gain(Reading::LatencyMean)),
        ("latency_mean_ratio", ratio(Reading::LatencyMean)),
        ("frame_rate_ratio", ratio(Reading::FrameRate)),
        ("stall_gain", gain(Reading::Stalls)),
        ("stall_times", ratio(Reading::Stalls)),
        ("late_times", ratio(Reading::LateFrames)),
        ("estimate_accuracy_gain", gain(Reading::EstimateAccuracy)),
    ]
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The figures of a run that sent nothing.
    pub(crate) fn summary(scheme: &str, trace: &str) -> Summary {
        serde_json::from_value(serde_json::json!({
            "scheme": scheme, "trace": trace, "video": "v", "seed": 1, "duration_s": 1.0, "video_bitrate_bps": 0.0,
            "wire_bitrate_bps": 0.0, "padding_bitrate_bps": 0.0, "frame_rate_fps": 0.0, "stall_ratio": 0.0,
            "packet_loss_ratio": 0.0, "tail_missing": 0, "events_fingerprint": "",
        }))
        .unwrap()
    }

    /// A run with these readings.
    pub(crate) fn sample(values: &[(&'static str, Option<f64>)]) -> Sample {
        Sample { summary: summary("s", "t"), values: values.to_vec(), distributed: Vec::new(), heights: Vec::new() }
    }

    #[test]
    fn runs_come_to_their_mean_and_the_deviation_of_a_sample() {
        let samples = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].map(|value| sample(&[("x", Some(value))]));
        let found = spread(&samples.iter().collect::<Vec<_>>(), "x").unwrap();
        assert_eq!((found.mean, found.runs), (5.0, 8));
        assert!((found.sigma.unwrap() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12, "{found:?}");
        // Runs to which a figure does not apply are excluded from it.
        let two = [sample(&[("x", Some(3.0))]), sample(&[("x", None)])];
        assert_eq!(spread(&two.iter().collect::<Vec<_>>(), "x"), Some(Spread { mean: 3.0, sigma: None, runs: 1 }));
        assert_eq!(spread(&[&two[1]], "x"), None);
        assert_eq!(spread(&[&two[0]], "y"), None);
    }
}
