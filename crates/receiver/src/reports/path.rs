//! What a receiver that measures the path tells of it, once in a while (Rebera; rebera.md section 3).

use thalweg_control::rebera::{Arrival, Measurement, MeasurementConfig};
use thalweg_control::{PathReport, Payload};
use thalweg_sender::Packet;
use thalweg_units::{Bytes, ConfigError, Time};

/// Such a report on the wire: no format exists, so the size of feedback of an application (RFC 4585 section 6.4) with an identifier, two
/// rates of 32 bits and two counts of 64, and SRTCP, UDP and IPv4.
pub(crate) const SIZE: Bytes = Bytes::new(12 + 4 + 2 * 4 + 2 * 8 + 14 + 8 + 20);

/// A measurement, and when it is told next: Delta after the last time, if anything came.
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

    /// A packet arrived that had not before.
    pub(crate) fn on_packet(&mut self, now: Time, packet: &Packet) {
        let sent = &packet.sent;
        let place = sent.place.filter(|_| sent.payload == Payload::Media);
        self.measurement.on_arrival(&Arrival {
            at: now,
            train: place.map(|place| place.frame),
            last: place.is_some_and(|place| place.last),
            size: sent.size,
            before: packet.before,
        });
        let due = self.last.map_or(now, |last| last + self.config.interval);
        self.next = self.next.min(due.max(now));
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
    use thalweg_sender::Content;
    use thalweg_units::{Rate, Span};

    use super::*;

    fn packet(number: u64) -> Packet {
        let place = FramePlace {
            frame: number / 2,
            first: number.is_multiple_of(2),
            last: !number.is_multiple_of(2),
            offset: Bytes::ZERO,
            captured: Time::ZERO,
            keyframe: false,
        };
        let sent = SentPacket { place: Some(place), ..SentPacket::new(PacketId(number), Time::ZERO, Bytes::new(1000)) };
        Packet { sent, grace: Span::ZERO, asks: false, before: Bytes::new(1000 * number), content: Content::Padding }
    }

    #[test]
    fn a_receiver_tells_every_tenth_of_a_second_what_the_path_bears_while_anything_comes() {
        let mut path = PathReports::new(MeasurementConfig::default()).unwrap();
        let mut told = Vec::new();
        for number in 0..60 {
            let now = Time::from_millis(20 * number);
            path.on_packet(now, &packet(number));
            told.extend(path.poll(now).map(|report| (now, report)));
        }
        let gaps: Vec<i64> = told.windows(2).map(|pair| (pair[1].0 - pair[0].0).as_millis()).collect();
        assert!(told.len() == 12 && gaps.iter().all(|gap| *gap == 100), "{gaps:?}");
        let (_, last) = told.last().unwrap();
        assert_eq!((last.capacity, last.lost), (Some(Rate::from_kbps(400)), Bytes::ZERO));
        // The last packets are told as well, and then there is nothing to say.
        assert_eq!(path.next_event(), Time::from_millis(1200));
        assert_eq!(path.poll(Time::from_millis(1200)).map(|report| report.received), Some(Bytes::new(60_000)));
        assert_eq!(path.next_event(), Time::NEVER);
    }
}
