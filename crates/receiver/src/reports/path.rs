//! Periodic reports of a receiver that measures the path (Rebera; specs/rebera.md 3).

use thalweg_control::estimate::{Arrival, Measurement, MeasurementConfig};
use thalweg_control::{PathReport, Payload};
use thalweg_types::Packet;
use thalweg_units::{ConfigError, Time};
use thalweg_wire::rtcp;

/// The report of `ssrc` on the path of stream `media_ssrc`.
pub(crate) fn message(ssrc: u32, media_ssrc: u32, report: &PathReport) -> rtcp::Packet {
    let PathReport { capacity, received, lost } = *report;
    rtcp::Packet::PathReport(rtcp::PathReport { sender_ssrc: ssrc, media_ssrc, capacity, received, lost })
}

/// A path measurement and the time of its next report: Delta after the last one, if anything arrived.
#[derive(Debug)]
pub(crate) struct PathReports {
    config: MeasurementConfig,
    measurement: Measurement,
    last: Option<Time>,
    next: Time,
}

impl PathReports {
    pub(crate) fn new(config: MeasurementConfig) -> Result<PathReports, ConfigError> {
        Ok(PathReports { config, measurement: config.build()?, last: None, next: Time::NEVER })
    }

    /// A new packet of the simulator arrived.
    pub(crate) fn on_packet(&mut self, now: Time, packet: &Packet) {
        let sent = &packet.sent;
        let place = sent.place.filter(|_| sent.payload == Payload::Media);
        self.on_arrival(&Arrival {
            at: now,
            train: place.map(|place| place.frame),
            last: place.is_some_and(|place| place.last),
            size: sent.size,
            before: packet.before,
        });
    }

    /// A new packet arrived, later than all others.
    pub(crate) fn on_arrival(&mut self, arrival: &Arrival) {
        self.measurement.on_arrival(arrival);
        let due = self.last.map_or(arrival.at, |last| last + self.config.interval);
        self.next = self.next.min(due.max(arrival.at));
    }

    pub(crate) fn next_event(&self) -> Time {
        self.next
    }

    pub(crate) fn poll(&mut self, now: Time) -> Option<PathReport> {
        if self.next > now {
            return None;
        }
        (self.next, self.last) = (Time::NEVER, Some(now));
        Some(self.measurement.report(now))
    }
}

#[cfg(test)]
mod tests {
    use thalweg_control::{FramePlace, PacketId, SentPacket};
    use thalweg_types::Content;
    use thalweg_units::{Bytes, Rate, Span};

    use super::*;
    use crate::message::{About, Message, datagram};

    fn packet(number: u64) -> Packet {
        let place = FramePlace {
            frame: number / 2,
            first: number.is_multiple_of(2),
            last: !number.is_multiple_of(2),
            offset: Bytes::ZERO,
            captured: Time::ZERO,
            keyframe: false,
        };
        let mut sent = SentPacket::new(PacketId(number), Time::ZERO, Bytes::new(1000));
        sent.place = Some(place);
        Packet {
            sent,
            grace: Span::ZERO,
            requests_feedback: false,
            report_may_wait: false,
            before: Bytes::new(1000 * number),
            content: Content::Padding,
        }
    }

    #[test]
    fn a_report_weighs_what_its_bytes_do() {
        let message = message(1, 2, &PathReport::default());
        // Twelve bytes of feedback header, four of name, 24 of content; SRTCP's index and tag, UDP and IPv4.
        let report = Message::new(About::Report { packets: 0 }, datagram(&[message]));
        assert_eq!(report.size, Bytes::new(12 + 4 + 24 + 14 + 8 + 20));
    }

    #[test]
    fn a_receiver_tells_every_tenth_of_a_second_what_the_path_bears_while_anything_comes() {
        let mut path = PathReports::new(MeasurementConfig::default()).unwrap();
        let mut reported = Vec::new();
        for number in 0..60 {
            let now = Time::from_millis(20 * number);
            path.on_packet(now, &packet(number));
            reported.extend(path.poll(now).map(|report| (now, report)));
        }
        let gaps: Vec<i64> = reported.windows(2).map(|pair| (pair[1].0 - pair[0].0).as_millis()).collect();
        assert!(reported.len() == 12 && gaps.iter().all(|gap| *gap == 100), "{gaps:?}");
        let (_, last) = reported.last().unwrap();
        assert_eq!((last.capacity, last.lost), (Some(Rate::from_kbps(400)), Bytes::ZERO));
        // The last packets are reported too; after that there are no more reports.
        assert_eq!(path.next_event(), Time::from_millis(1200));
        assert_eq!(path.poll(Time::from_millis(1200)).map(|report| report.received), Some(Bytes::new(60_000)));
        assert_eq!(path.next_event(), Time::NEVER);
    }
}
