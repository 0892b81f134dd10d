//! Bytes in flight as libwebrtc counts them (`transport_feedback_adapter.cc`): a packet stays in flight until it or a
//! later one is reported, for up to a minute. The history declares everything lost after two seconds without feedback,
//! which would end the pushback in the middle of an outage.

use thalweg_units::Bytes;

use crate::feedback::{Fate, Feedback};
use crate::packet::{PacketId, SentPacket};

/// Bytes in flight, including those declared lost at a feedback timeout.
#[derive(Debug, Clone, Default)]
pub(super) struct Outstanding {
    in_flight: Bytes,
    written_off: Bytes,
    /// The last packet declared lost at a feedback timeout.
    until: Option<PacketId>,
}

impl Outstanding {
    pub(super) fn bytes(&self) -> Bytes {
        self.in_flight + self.written_off
    }

    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        self.in_flight = packet.in_flight;
    }

    /// Everything in flight was declared lost because no feedback arrived.
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
                // Every packet sent before it has arrived or is lost.
                (self.written_off, self.until) = (Bytes::ZERO, None);
                return;
            }
            if matches!(report.fate, Fate::Arrived { was_lost: true, .. }) {
                self.written_off = self.written_off.saturating_sub(report.packet.size);
            }
        }
    }
}
