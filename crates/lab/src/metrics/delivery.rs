//! How much of the media was delivered, and in time (specs/metrics.md 3, 4 and 8).

use serde::{Deserialize, Serialize};
use thalweg_units::Span;

/// Default deadline after capture; later media is not counted (specs/metrics.md 3).
pub const DEADLINE: Span = Span::from_millis(400);

/// Delivery of a sender's media.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    /// Payload of media packets received within the deadline of their frame, directly, by retransmission or by FEC, in
    /// bit/s: neither lost nor discarded.
    pub goodput_bps: f64,
    /// Media packets received only after the deadline over media packets sent, 0..1.
    pub discard_ratio: f64,
    /// Frames with a packet that was dropped and recovered neither by FEC nor by retransmission.
    pub lost_frames: u64,
    /// These, and frames with a packet received only after the deadline.
    pub lost_or_late_frames: u64,
    /// Average bandwidth utilisation: mean over whole seconds of goodput over link capacity; above 1 for seconds that
    /// deliver what the previous second queued. Null when the path has no bottleneck.
    pub abu: Option<f64>,
}

/// Mean over whole seconds of `goodput` over `capacity`, both in bins of `bin_s` seconds and in the same unit, from
/// `from` to `until` seconds; seconds without capacity are left out (specs/metrics.md 4). `None` if no second counts.
pub fn abu(goodput: &[f64], capacity: &[f64], bin_s: f64, (from, until): (f64, f64)) -> Option<f64> {
    let bin = |second: usize| (second as f64 / bin_s).round() as usize;
    let sum = |values: &[f64], second: usize| -> f64 {
        let end = bin(second + 1).min(values.len());
        values[bin(second).min(end)..end].iter().sum()
    };
    let seconds = from.ceil() as usize..until.floor() as usize;
    let shares = seconds.filter_map(|second| {
        let capacity = sum(capacity, second);
        (capacity > 0.0).then(|| sum(goodput, second) / capacity)
    });
    let (total, count) = shares.fold((0.0, 0u32), |(total, count), share| (total + share, count + 1));
    (count > 0).then(|| total / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utilisation_is_the_mean_of_seconds_not_the_ratio_of_sums() {
        // A second at 0.5 of 1, one at 1 of 4, one without capacity, one that delivers queued data: 2 of 1.
        let of = |seconds: [f64; 4]| -> Vec<f64> { seconds.iter().flat_map(|mbps| [*mbps; 10]).collect() };
        let (goodput, capacity) = (of([0.5, 1.0, 0.0, 2.0]), of([1.0, 4.0, 0.0, 1.0]));
        let found = |window| abu(&goodput, &capacity, 0.1, window);
        assert!((found((0.0, 4.0)).unwrap() - (0.5 + 0.25 + 2.0) / 3.0).abs() < 1e-9);
        // Only whole seconds of a flow that is active from 0.5 to 2.5 s.
        assert!((found((0.5, 2.5)).unwrap() - 0.25).abs() < 1e-9);
        assert_eq!(found((2.0, 3.0)), None);
    }
}
