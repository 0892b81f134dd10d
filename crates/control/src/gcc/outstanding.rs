//! What is in flight by libwebrtc's account (`transport_feedback_adapter.cc`): a packet is until it or a later one is reported, however
//! long that takes, up to a minute. The history writes everything off after two seconds without feedback, which would end the pushback in
//! the middle of an outage.

use thalweg_units::Bytes;

use crate::feedback::{Fate, Feedback};
use crate::packet::{PacketId, SentPacket};

/// Bytes in flight, those written off for a feedback timeout included.
#[derive(Debug, Clone, Default)]
pub(super) struct Outstanding {
    in_flight: Bytes,
    written_off: Bytes,
    /// The last packet written off.
    until: Option<PacketId>,
}

impl Outstanding {
    pub(super) fn bytes(&self) -> Bytes {
        self.in_flight + self.written_off
    }

    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        self.in_flight = packet.in_flight;
    }

    /// Everything in flight was given up because no feedback arrived.
    pub(super) fn on_feedback_timeout(&mut self, feedback: &Feedback<'_>) {
        self.in_flight = feedback.in_flight;
        self.written_off += feedback.lost_bytes();
        self.until = feedback.reports.last().map(|report| report.packet.id).max(self.until);
    }

    pub(super) fn on_report(&mut self, feedback: &Feedback<'_>) {
        self.in_flight = feedback.in_flight;
        let Some(until) = self.until else { return };
        for report in feedback.reports {
            if report.packet.id >= until && report.arrival().is_some() {
                // Whatever went before it has arrived or will not.
                (self.written_off, self.until) = (Bytes::ZERO, None);
                return;
            }
            if matches!(report.fate, Fate::Arrived { was_lost: true, .. }) {
                self.written_off = self.written_off.saturating_sub(report.packet.size);
            }
        }
    }
}
