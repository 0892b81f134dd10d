//! Round trips, counted by packets: a round ends when a packet arrives that was sent after it began (specs/bbr.md 3).

use thalweg_units::{Bytes, Span};

use crate::feedback::{Fate, Feedback};

/// The statistics of a round.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Round {
    pub(super) arrived: Bytes,
    pub(super) lost: Bytes,
    pub(super) min_rtt: Option<Span>,
}

impl Round {
    /// The share of its bytes that was lost, 0..=1.
    pub(super) fn loss(&self) -> f64 {
        self.lost.as_f64() / (self.arrived + self.lost).as_f64().max(1.0)
    }
}

/// The current round.
#[derive(Debug, Clone, Default)]
pub(super) struct Rounds {
    /// round_count: the number of rounds begun.
    count: u64,
    /// next_round_delivered: the round ends when a packet arrives that was sent after at least this had been delivered.
    ends_at: Bytes,
    current: Round,
}

impl Rounds {
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Takes feedback; returns the round that it ends, if any. The feedback that ends a round belongs to the next.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>) -> Option<Round> {
        let newest = feedback.reports.iter().rev().find(|report| report.arrival().is_some());
        let ended = newest.is_some_and(|report| report.packet.delivered >= self.ends_at);
        let before = ended.then(|| core::mem::take(&mut self.current));
        if ended {
            self.count += 1;
            self.ends_at = feedback.delivered;
        }
        for report in feedback.reports {
            match report.fate {
                Fate::Arrived { .. } => self.current.arrived += report.packet.size,
                Fate::Lost => self.current.lost += report.packet.size,
            }
            if let Some(rtt) = feedback.rtt_sample(report) {
                self.current.min_rtt = Some(self.current.min_rtt.map_or(rtt, |min| min.min(rtt)));
            }
        }
        before
    }

    /// Begins a round here, so that its end is a full round trip away.
    pub(super) fn begin(&mut self, delivered: Bytes) {
        self.ends_at = delivered;
    }

    /// The statistics of the current round so far.
    pub(super) fn current(&self) -> &Round {
        &self.current
    }
}
