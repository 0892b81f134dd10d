//! Losses declared because feedback was missing: the reports were lost, not the packets.

use thalweg_units::{Span, Time};

use crate::feedback::Feedback;
use crate::feedback::timeout::{FeedbackTimeout, Then};
use crate::packet::SentPacket;

/// A longer pause between two reports while something was under way is a feedback timeout (FBRA's RTCP timeout, 2 s).
const SILENCE: Span = Span::from_secs(2);

/// Up to which sending time a pause in the feedback swallowed what would have been reported.
#[derive(Debug, Clone)]
pub(super) struct FeedbackGap {
    timeout: FeedbackTimeout,
    until: Time,
}

impl Default for FeedbackGap {
    fn default() -> FeedbackGap {
        FeedbackGap { timeout: FeedbackTimeout::new(SILENCE, 0, Then::Same), until: Time::ZERO }
    }
}

impl FeedbackGap {
    /// A packet left; whether nothing else was under way.
    pub(super) fn on_sent(&mut self, at: Time) -> bool {
        self.timeout.on_sent(at)
    }

    /// Feedback with arrivals, before any of it is judged.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if feedback.reports.iter().all(|report| report.arrival().is_none()) {
            return;
        }
        if self.timeout.waited(feedback.now).is_some_and(|waited| waited > SILENCE) {
            self.until = feedback.now;
        }
        self.timeout.on_feedback(feedback);
    }

    /// All that was under way is given up: whether it was lost, nobody knows.
    pub(super) fn on_feedback_timeout(&mut self, now: Time) {
        self.until = now;
    }

    /// Whether nothing can be said of this packet if it was not reported.
    pub(super) fn covers(&self, packet: &SentPacket) -> bool {
        packet.at < self.until
    }
}
