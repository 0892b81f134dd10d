//! Distributions over the frames or packets of runs, which papers draw as boxes for each link and as one CDF of all.

use thalweg_units::percentile;

use thalweg_lab::metrics::{latency, mean, response};
use thalweg_lab::outcome::Outcome;

/// Distributed quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distribution {
    /// PSNR of each frame shown, in dB.
    Psnr,
    /// Latency of each picture, a missing one counted until the next shown, in ms.
    Latency,
    /// Lines of each frame that was sent.
    Height,
    /// Utilisation of each half second with any capacity, 0..1.
    Utilization,
    /// Waiting time of packets in the path's queues, in ms: of each run the percentiles 0 to 100.
    QueueDelay,
}

impl Distribution {
    /// Its name in tables and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Distribution::Psnr => "psnr_db",
            Distribution::Latency => "latency_ms",
            Distribution::Height => "height_lines",
            Distribution::Utilization => "utilization_500ms",
            Distribution::QueueDelay => "queue_delay_ms",
        }
    }

    /// The values of a run.
    pub(super) fn of(self, outcome: &Outcome) -> Vec<f32> {
        let frames = outcome.frames.iter();
        match self {
            Distribution::Psnr => frames.filter_map(|frame| frame.psnr_db).map(|value| value as f32).collect(),
            Distribution::Height => {
                frames.filter(|frame| frame.queued_s.is_some()).map(|frame| f32::from(frame.height)).collect()
            }
            Distribution::Latency => narrow(&latency(&outcome.frames).map(|found| found.each_ms).unwrap_or_default()),
            Distribution::Utilization => narrow(&response::instantaneous_utilization(&outcome.series)),
            Distribution::QueueDelay => narrow(&outcome.queue_delay_percentiles_ms),
        }
    }
}

fn narrow(values: &[f64]) -> Vec<f32> {
    values.iter().map(|value| *value as f32).collect()
}

/// The shares at which a box is drawn: whiskers, box and line (specs/metrics.md 10).
pub const BOX: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// A distribution's box and mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantiles {
    /// P5, P25, P50, P75 and P95.
    pub at: [f64; 5],
    /// Mean: the dot of a box plot.
    pub mean: f64,
}

impl Quantiles {
    /// Quantiles of these values; `None` if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Quantiles> {
        let values: Vec<f64> = values.into_iter().collect();
        let mean = mean(values.iter().copied())?;
        Some(Quantiles { at: BOX.map(|share| percentile(&values, share).unwrap_or(f64::NAN)), mean })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_has_the_percentiles_of_the_worked_example() {
        let found = Quantiles::of((1..=20).map(f64::from)).unwrap();
        assert!((found.at[4] - 19.05).abs() < 1e-9 && (found.at[0] - 1.95).abs() < 1e-9, "{found:?}");
        assert_eq!((found.at[2], found.mean), (10.5, 10.5));
        assert_eq!(Quantiles::of([]), None);
    }
}
