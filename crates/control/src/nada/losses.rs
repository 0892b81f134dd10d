//! Loss intervals: the number of packets between losses (RFC 5348 section 5).

use alloc::collections::VecDeque;

use thalweg_units::{Span, Time};

/// Weights of the last eight intervals, the newest first.
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// Intervals between losses.
#[derive(Debug, Clone, Default)]
pub(super) struct LossIntervals {
    /// Packets from one loss to the next, the newest first.
    closed: VecDeque<u64>,
    /// Packets since the last loss.
    since: u64,
    /// When the first packet of that loss was sent.
    began: Option<Time>,
}

impl LossIntervals {
    /// Takes the next packet, sent at `sent`; losses within a round trip count as one.
    pub(super) fn on_packet(&mut self, sent: Time, lost: bool, rtt: Span) {
        if !lost || self.began.is_some_and(|began| sent - began < rtt) {
            self.since += 1;
            return;
        }
        self.began = Some(sent);
        self.closed.push_front(self.since.max(1));
        self.closed.truncate(WEIGHTS.len());
        self.since = 0;
    }

    /// Time since the last loss, in average loss intervals; `None` if nothing was ever lost.
    pub(super) fn since_last(&self) -> Option<f64> {
        let weights: f64 = WEIGHTS.iter().take(self.closed.len()).sum();
        let packets: f64 = self.closed.iter().zip(WEIGHTS).map(|(packets, weight)| *packets as f64 * weight).sum();
        (weights > 0.0).then(|| self.since as f64 * weights / packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(lost: &[u64], packets: u64) -> Option<f64> {
        let mut intervals = LossIntervals::default();
        (0..packets).for_each(|id| {
            intervals.on_packet(Time::from_millis(10 * id), lost.contains(&id), Span::from_millis(30));
        });
        intervals.since_last()
    }

    #[test]
    fn the_last_loss_is_so_many_average_intervals_ago() {
        assert_eq!(after(&[], 100), None);
        assert_eq!(after(&[10], 11), Some(0.0));
        assert_eq!(after(&[10], 81), Some(7.0));
        // Ten packets before the first, nineteen between: 14.5 on average.
        assert_eq!(after(&[10, 30], 31 + 29), Some(2.0));
    }

    #[test]
    fn losses_within_a_round_trip_are_one() {
        assert_eq!(after(&[10, 11, 12], 81), after(&[10], 81));
        assert_ne!(after(&[10, 13], 81), after(&[10], 81));
    }

    #[test]
    fn the_fifth_interval_back_and_those_before_it_weigh_less() {
        // 100 packets, then intervals of 9 each: (4 x 9 + 0.8 x 100) / 4.8 = 24.17.
        let lost = [100, 110, 120, 130, 140];
        assert!((after(&lost, 141 + 29).unwrap() - 29.0 * 4.8 / 116.0).abs() < 1e-9);
    }
}
