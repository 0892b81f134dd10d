//! Losses that a silence made up: the reports were lost, not the packets.

use thalweg_units::{Bytes, Span, Time};

use crate::feedback::Feedback;
use crate::packet::SentPacket;

/// A longer pause between two reports while something was under way is a silence (FBRA's RTCP timeout, 2 s).
const SILENCE: Span = Span::from_secs(2);

/// Since when something is under way unheard of, and up to which sending time a silence swallowed what would have been told.
#[derive(Debug, Clone, Default)]
pub(super) struct Swallowed {
    quiet_since: Option<Time>,
    until: Time,
}

impl Swallowed {
    /// A packet left; whether nothing else was under way.
    pub(super) fn on_sent(&mut self, at: Time) -> bool {
        let nothing = self.quiet_since.is_none();
        self.quiet_since.get_or_insert(at);
        nothing
    }

    /// News of arrivals, before any of it is judged.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if feedback.reports.iter().all(|report| report.arrival().is_none()) {
            return;
        }
        if self.quiet_since.is_some_and(|since| feedback.now - since > SILENCE) {
            self.until = feedback.now;
        }
        self.quiet_since = (feedback.in_flight > Bytes::ZERO).then_some(feedback.now);
    }

    /// All that was under way is given up: whether it was lost, nobody knows.
    pub(super) fn on_silence(&mut self, now: Time) {
        self.until = now;
    }

    /// Whether nothing can be said of this packet if it was not told of.
    pub(super) fn covers(&self, packet: &SentPacket) -> bool {
        packet.at < self.until
    }
}
