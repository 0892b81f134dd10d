//! N: how many packets are under way.

use alloc::collections::VecDeque;

use thalweg_units::{Span, Time};

use crate::feedback::Feedback;
use crate::packet::{PacketId, SentPacket};

/// Packets sent after the newest that is known to have arrived. Those before it arrived or never will (spec A3).
#[derive(Debug, Clone)]
pub(super) struct Outstanding {
    forget_after: Span,
    /// In order of sending.
    sent: VecDeque<(PacketId, Time)>,
    /// When an arrival was last heard of.
    heard: Time,
}

impl Outstanding {
    pub(super) fn new(forget_after: Span) -> Outstanding {
        Outstanding { forget_after, sent: VecDeque::new(), heard: Time::ZERO }
    }

    pub(super) fn count(&self) -> u64 {
        self.sent.len() as u64
    }

    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        self.sent.push_back((packet.id, packet.at));
    }

    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let arrived = feedback.reports.iter().rev().find(|report| report.arrival().is_some());
        if let Some(newest) = arrived {
            self.heard = feedback.now;
            while self.sent.front().is_some_and(|(id, _)| *id <= newest.packet.id) {
                self.sent.pop_front();
            }
        }
    }

    pub(super) fn on_timeout(&mut self, now: Time) {
        while self.next_timeout() <= now {
            self.sent.pop_front();
        }
    }

    /// When the oldest will count as lost if nothing is heard until then.
    pub(super) fn next_timeout(&self) -> Time {
        self.sent.front().map_or(Time::NEVER, |(_, at)| self.heard.max(*at) + self.forget_after)
    }
}
