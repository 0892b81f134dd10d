//! The slope of the accumulated delay (specs/gcc.md 2; libwebrtc `trendline_estimator.cc`).

use alloc::collections::VecDeque;

use thalweg_units::Time;

use super::packet_groups::Delta;
use crate::estimate::slope;

/// Points in the regression.
const WINDOW: usize = 20;
/// The share of the smoothed delay that is kept per delta.
const SMOOTHING: f64 = 0.9;
/// The count of deltas stops here.
const MAX_DELTAS: u32 = 1000;

/// Accumulates delay changes and fits a line to them.
#[derive(Debug, Clone, Default)]
pub(super) struct Trendline {
    deltas: u32,
    accumulated: f64,
    smoothed: f64,
    first_arrival: Option<Time>,
    /// (ms since the first arrival, smoothed accumulated delay in ms).
    points: VecDeque<(f64, f64)>,
    slope: f64,
}

impl Trendline {
    /// Takes a delta whose second group was opened at `arrival`; returns the slope, in ms of queueing per ms.
    pub(super) fn on_delta(&mut self, delta: Delta, arrival: Time) -> f64 {
        self.deltas = (self.deltas + 1).min(MAX_DELTAS);
        self.accumulated += (delta.arrived - delta.sent).as_millis_f64();
        self.smoothed = SMOOTHING * self.smoothed + (1.0 - SMOOTHING) * self.accumulated;
        let first = *self.first_arrival.get_or_insert(arrival);
        self.points.push_back(((arrival - first).as_millis_f64(), self.smoothed));
        if self.points.len() > WINDOW {
            self.points.pop_front();
        }
        if self.points.len() == WINDOW {
            self.slope = slope(self.points.iter().copied()).unwrap_or(self.slope);
        }
        self.slope
    }

    /// Number of deltas taken, at most a thousand.
    pub(super) fn deltas(&self) -> u32 {
        self.deltas
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Span;

    #[test]
    fn the_first_slope_of_the_worked_example_comes_at_the_twentieth_delta() {
        let mut trendline = Trendline::default();
        let delta = Delta { sent: Span::from_millis(20), arrived: Span::from_millis(21) };
        let mut slope = 0.0;
        for i in 0..20 {
            assert_eq!(slope, 0.0);
            slope = trendline.on_delta(delta, Time::from_millis(21 * i));
        }
        assert!((slope - 0.03097).abs() < 1e-5, "{slope}");
    }
}
