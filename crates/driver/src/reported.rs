//! Statistics of recent reports: the share of packets lost, and how long a packet waits for its report.

use alloc::collections::VecDeque;

use thalweg_control::{Fate, Feedback};
use thalweg_units::{Span, Time};

/// The time over which the share of losses is taken.
const WINDOW: Span = Span::from_secs(1);
/// The gain of the mean turn, as of srtt: 1 in so many (specs/vidaptive.md C1).
const TURN_GAIN: i64 = 8;

/// Packets whose fate became known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reported {
    /// For each report of the last second, how many were lost and how many are known.
    recent: VecDeque<(Time, u64, u64)>,
    turn: Option<Span>,
}

impl Reported {
    pub(crate) fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let lost = feedback.reports.iter().filter(|report| report.fate == Fate::Lost).count() as u64;
        if feedback.reports.is_empty() {
            return;
        }
        self.recent.push_back((feedback.now, lost, feedback.reports.len() as u64));
        while self.recent.front().is_some_and(|(at, ..)| feedback.now - *at > WINDOW) {
            self.recent.pop_front();
        }
        let first = feedback.reports.iter().find(|report| matches!(report.fate, Fate::Arrived { was_lost: false, .. }));
        if let Some(first) = first {
            let flight = feedback.now - first.packet.at;
            self.turn = Some(self.turn.map_or(flight, |turn| turn + (flight - turn) / TURN_GAIN));
        }
    }

    /// The share of packets lost of those whose fate became known in the last second.
    pub(crate) fn lost(&self) -> Option<f64> {
        let (lost, known) = self.recent.iter().fold((0, 0), |(lost, known), (_, l, k)| (lost + l, known + k));
        (known > 0).then(|| lost as f64 / known as f64)
    }

    /// The smoothed time from sending the first packet of a report to the report. A full window is sent once in this time:
    /// where reports are batched that is longer than srtt, the mean over a report's packets.
    pub(crate) fn turn(&self) -> Option<Span> {
        self.turn
    }
}
