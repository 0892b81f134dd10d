//! What the receiver reports of arrivals, in each of the styles that senders meet.

use thalweg_control::{Acknowledgement, PacketId, Payload, SentPacket};
use thalweg_sender::FeedbackStyle;
use thalweg_units::{Bytes, Span, Time};

/// Chromium's interval for transport-wide feedback (measured: design.md section 6).
const TWCC_INTERVAL: Span = Span::from_millis(62);
/// Its resolution (draft-holmer-rmcat-transport-wide-cc-extensions-01: 250 us).
const TWCC_TICK: Span = Span::from_micros(250);
/// Chromium's interval for RFC 8888 (measured: design.md section 6).
const CCFB_INTERVAL: Span = Span::from_millis(31);
/// Its resolution, 1/1024 s.
const CCFB_TICK: Span = Span::from_nanos(976_562);
/// IPv4, UDP, RTCP header and sender's and media's SSRC, SRTCP index and tag.
const RTCP_OVERHEAD: u64 = 20 + 8 + 12 + 14;

/// A report on its way to the sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What it says of each packet.
    pub acknowledgements: Vec<Acknowledgement>,
    /// How long the newest packet's arrival was held back, where the format says so.
    pub hold: Option<Span>,
    /// Its size on the wire.
    pub size: Bytes,
}

/// Gathers arrivals into reports.
#[derive(Debug)]
pub struct Reports {
    style: FeedbackStyle,
    clock_offset: Span,
    arrived: Vec<(PacketId, Time)>,
    newest: Option<PacketId>,
    reported: Option<PacketId>,
    next: Time,
}

impl Reports {
    pub(super) fn new(style: FeedbackStyle, clock_offset: Span) -> Reports {
        Reports { style, clock_offset, arrived: Vec::new(), newest: None, reported: None, next: Time::NEVER }
    }

    pub(super) fn on_packet(&mut self, now: Time, packet: &SentPacket) {
        self.arrived.push((packet.id, now));
        self.newest = self.newest.max(Some(packet.id));
        let due = match self.style {
            FeedbackStyle::PerPacket => now,
            // Whatever ends a burst asks: a frame's last packet, or filler.
            FeedbackStyle::TwccOnRequest => {
                let asks = packet.payload != Payload::Media || packet.place.is_some_and(|place| place.last);
                if asks { now } else { now + TWCC_INTERVAL }
            }
            FeedbackStyle::Twcc => now + TWCC_INTERVAL,
            FeedbackStyle::Ccfb => now + CCFB_INTERVAL,
        };
        if self.next == Time::NEVER || due < self.next {
            self.next = due;
        }
    }

    pub(super) fn next_event(&self) -> Time {
        self.next
    }

    pub(super) fn poll(&mut self, now: Time) -> Option<Report> {
        if self.next > now || self.arrived.is_empty() {
            return None;
        }
        self.next = Time::NEVER;
        let newest_arrival = self.arrived.iter().map(|(_, at)| *at).max()?;
        let tick = match self.style {
            FeedbackStyle::PerPacket => Span::from_nanos(1),
            FeedbackStyle::Twcc | FeedbackStyle::TwccOnRequest => TWCC_TICK,
            FeedbackStyle::Ccfb => CCFB_TICK,
        };
        let clock = |at: Time| {
            let there = at + self.clock_offset;
            Time::from_nanos(there.as_nanos() / tick.as_nanos() as u64 * tick.as_nanos() as u64)
        };
        let mut acknowledgements: Vec<Acknowledgement> = self
            .arrived
            .drain(..)
            .map(|(id, at)| Acknowledgement { id, arrival: Some(clock(at)), ce: false })
            .collect();
        acknowledgements.sort_by_key(|acknowledgement| acknowledgement.id);
        let covered = match (self.reported, self.newest) {
            (Some(before), Some(newest)) => newest.0.saturating_sub(before.0).max(1),
            _ => acknowledgements.len() as u64,
        };
        self.reported = self.reported.max(self.newest);
        let body = match self.style {
            FeedbackStyle::PerPacket => 8,
            // Base, count, reference time and counter; then two bits and a byte or two for each packet.
            FeedbackStyle::Twcc | FeedbackStyle::TwccOnRequest => 8 + covered.div_ceil(7) * 2 + covered + covered / 8,
            FeedbackStyle::Ccfb => 8 + covered * 2 + 4,
        };
        let hold = matches!(self.style, FeedbackStyle::Ccfb).then(|| now - newest_arrival);
        Some(Report { acknowledgements, hold, size: Bytes::new(RTCP_OVERHEAD + body) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(id: u64) -> SentPacket {
        SentPacket::new(PacketId(id), Time::ZERO, Bytes::new(1200))
    }

    #[test]
    fn each_style_reports_when_and_as_finely_as_it_should() {
        let at = Time::from_micros(10_333);
        for (style, due, arrival) in [
            (FeedbackStyle::PerPacket, at, Time::from_micros(1_010_333)),
            (FeedbackStyle::Twcc, at + TWCC_INTERVAL, Time::from_micros(1_010_250)),
            (FeedbackStyle::Ccfb, at + CCFB_INTERVAL, Time::from_nanos(1_034 * 976_562)),
        ] {
            let mut reports = Reports::new(style, Span::from_secs(1));
            assert_eq!(reports.next_event(), Time::NEVER);
            reports.on_packet(at, &packet(7));
            reports.on_packet(at + Span::from_millis(5), &packet(8));
            assert_eq!(reports.next_event(), due);
            let report = reports.poll(due).unwrap();
            assert_eq!(report.acknowledgements[0].arrival, Some(arrival), "{style:?}");
            assert_eq!(report.acknowledgements.len(), 2);
            assert_eq!(report.hold.is_some(), style == FeedbackStyle::Ccfb);
            assert!(reports.poll(due).is_none());
        }
    }
}
