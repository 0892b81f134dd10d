//! Losses declared because feedback was missing: the reports were lost, not necessarily the packets.

use thalweg_units::{Span, Time};

use crate::feedback::Feedback;
use crate::feedback::timeout::{FeedbackTimeout, Then};
use crate::packet::SentPacket;

/// A longer pause between two reports with packets in flight is a feedback timeout (FBRA's RTCP timeout, 2 s).
const TIMEOUT: Span = Span::from_secs(2);

/// Tracks the sending times of packets whose reports may have been lost in a pause of the feedback.
#[derive(Debug, Clone)]
pub(super) struct FeedbackGap {
    timeout: FeedbackTimeout,
    until: Time,
}

impl Default for FeedbackGap {
    fn default() -> FeedbackGap {
        FeedbackGap { timeout: FeedbackTimeout::new(TIMEOUT, 0, Then::Same), until: Time::ZERO }
    }
}

impl FeedbackGap {
    /// Records that a packet left; returns whether nothing else was in flight.
    pub(super) fn on_sent(&mut self, at: Time) -> bool {
        self.timeout.on_sent(at)
    }

    /// Takes feedback with arrivals, before any of it is judged.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if feedback.reports.iter().all(|report| report.arrival().is_none()) {
            return;
        }
        if self.timeout.waited(feedback.now).is_some_and(|waited| waited > TIMEOUT) {
            self.until = feedback.now;
        }
        self.timeout.on_feedback(feedback);
    }

    /// Gives up everything in flight: whether it was lost is unknown.
    pub(super) fn on_feedback_timeout(&mut self, now: Time) {
        self.until = now;
    }

    /// Returns true if the outcome of this packet is unknown if it was not reported.
    pub(super) fn covers(&self, packet: &SentPacket) -> bool {
        packet.at < self.until
    }
}
