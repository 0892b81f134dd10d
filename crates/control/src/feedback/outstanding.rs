//! Bytes in flight, for controllers that count only what was sent after the newest arrival (Salsify's N).

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, Span, Time};

use super::Feedback;
use crate::packet::{PacketId, SentPacket};

#[derive(Debug, Clone, Copy)]
struct Sent {
    id: PacketId,
    at: Time,
    size: Bytes,
}

/// Packets sent after the newest that is known to have arrived. Earlier packets have arrived or never will
/// (specs/salsify.md 3).
#[derive(Debug, Clone)]
pub(crate) struct Outstanding {
    forget_after: Span,
    /// In order of sending.
    sent: VecDeque<Sent>,
    bytes: Bytes,
    /// When an arrival was last reported.
    last_feedback: Time,
}

impl Outstanding {
    pub(crate) fn new(forget_after: Span) -> Outstanding {
        Outstanding { forget_after, sent: VecDeque::new(), bytes: Bytes::ZERO, last_feedback: Time::ZERO }
    }

    pub(crate) fn count(&self) -> u64 {
        self.sent.len() as u64
    }

    /// Their size on the wire.
    pub(crate) fn bytes(&self) -> Bytes {
        self.bytes
    }

    pub(crate) fn on_sent(&mut self, packet: &SentPacket) {
        self.sent.push_back(Sent { id: packet.id, at: packet.at, size: packet.size });
        self.bytes += packet.size;
    }

    fn forget_oldest(&mut self) {
        if let Some(oldest) = self.sent.pop_front() {
            self.bytes -= oldest.size;
        }
    }

    pub(crate) fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let arrived = feedback.reports.iter().rev().find(|report| report.arrival().is_some());
        if let Some(newest) = arrived {
            self.last_feedback = feedback.now;
            while self.sent.front().is_some_and(|sent| sent.id <= newest.packet.id) {
                self.forget_oldest();
            }
        }
    }

    pub(crate) fn on_timeout(&mut self, now: Time) {
        while self.next_timeout() <= now {
            self.forget_oldest();
        }
    }

    /// When the oldest will count as lost unless feedback arrives.
    pub(crate) fn next_timeout(&self) -> Time {
        self.sent.front().map_or(Time::NEVER, |sent| self.last_feedback.max(sent.at) + self.forget_after)
    }
}
