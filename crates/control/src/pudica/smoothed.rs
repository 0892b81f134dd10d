//! R smoothed over the last frames.

use alloc::collections::VecDeque;

use thalweg_units::{Rate, Span, Time};

/// A utilisation has weight R + 1, up to this (I1, I2).
const MAX_UTILIZATION_WEIGHT: f64 = 2.0;
/// A frame's rate in Mbps plus the first value is its weight, up to the second (I1, I2).
const RATE_WEIGHT: (f64, f64) = (10.0, 50.0);
/// The k-th oldest frame has weight k plus this (I1, I2).
const PLACE_WEIGHT: f64 = 20.0;

#[derive(Debug, Clone, Copy)]
struct Entry {
    sent: Time,
    ratio: f64,
    rate: Rate,
}

/// The frames in the window.
#[derive(Debug, Clone)]
pub(super) struct Smoothed {
    window: Span,
    max_rectified: f64,
    entries: VecDeque<Entry>,
}

impl Smoothed {
    pub(super) fn new(window: Span, max_rectified: f64) -> Smoothed {
        Smoothed { window, max_rectified, entries: VecDeque::new() }
    }

    /// Adds a frame of the rate B_k that left at `sent`.
    pub(super) fn add(&mut self, sent: Time, ratio: f64, rate: Rate) {
        self.entries.push_back(Entry { sent, ratio, rate });
        while self.entries.len() > 1 && self.entries[0].sent + self.window <= sent {
            self.entries.pop_front();
        }
    }

    /// The utilisation that the rate B would have caused; `None` before the first frame.
    pub(super) fn at(&self, rate: Rate) -> Option<f64> {
        let (mut sum, mut weights) = (0.0, 0.0);
        for (place, entry) in (1u32..).zip(&self.entries) {
            let weight = (entry.ratio + 1.0).min(MAX_UTILIZATION_WEIGHT)
                * (entry.rate.as_mbps_f64() + RATE_WEIGHT.0).min(RATE_WEIGHT.1)
                * (f64::from(place) + PLACE_WEIGHT);
            let rectified = (rate.as_bps_f64() / entry.rate.as_bps_f64().max(1.0)).min(self.max_rectified);
            sum += weight * entry.ratio * rectified;
            weights += weight;
        }
        (weights > 0.0).then(|| sum / weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_fuller_and_faster_frames_count_more() {
        let mut smoothed = Smoothed::new(Span::from_millis(200), 10.0);
        assert_eq!(smoothed.at(Rate::from_kbps(12_000)), None);
        for (ms, ratio, mbps) in [(0, 0.4, 10), (17, 0.6, 10), (33, 0.9, 12)] {
            smoothed.add(Time::from_millis(ms), ratio, Rate::from_kbps(mbps * 1000));
        }
        let ratio = smoothed.at(Rate::from_kbps(12_000)).unwrap();
        assert!((ratio - 0.7342).abs() < 1e-4, "{ratio}");
    }

    #[test]
    fn frames_of_more_than_the_window_ago_are_forgotten_but_not_the_newest() {
        let mut smoothed = Smoothed::new(Span::from_millis(200), 10.0);
        for (ms, ratio) in [(0, 2.0), (100, 0.5), (200, 0.5)] {
            smoothed.add(Time::from_millis(ms), ratio, Rate::from_kbps(1000));
        }
        assert!((smoothed.at(Rate::from_kbps(1000)).unwrap() - 0.5).abs() < 1e-9);
        smoothed.add(Time::from_millis(9000), 0.7, Rate::from_kbps(1000));
        assert!((smoothed.at(Rate::from_kbps(1000)).unwrap() - 0.7).abs() < 1e-9);
    }

    #[test]
    fn a_tiny_frame_stands_for_ten_times_its_rate_at_most() {
        let mut smoothed = Smoothed::new(Span::from_millis(200), 10.0);
        smoothed.add(Time::ZERO, 0.05, Rate::from_kbps(10));
        assert!((smoothed.at(Rate::from_kbps(1000)).unwrap() - 0.5).abs() < 1e-9);
    }
}
