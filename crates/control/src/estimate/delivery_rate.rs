//! The delivery rate of the path (draft-cheng-iccrg-delivery-rate-estimation; specs/bbr.md 2).

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, Rate, Span, Time};

use crate::feedback::earlier::Earlier;
use crate::feedback::{Feedback, Report};
use crate::packet::{PacketId, SentPacket};

/// One sample, for the newest packet in a report: the data delivered between its sending and its delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateSample {
    /// `delivered` over `interval`.
    pub rate: Rate,
    /// Bytes delivered since the packet was sent.
    pub delivered: Bytes,
    /// The longer of the sending time and the arrival time, so that neither a burst nor bunched arrivals make the path
    /// look faster than it is.
    pub interval: Span,
    /// Bytes that had been delivered when the packet was sent. A round trip has ended once this reaches the delivered
    /// count at the start of the round (P.delivered).
    pub delivered_before: Bytes,
    /// True if the application left the path underused: the path may be faster than `rate`.
    pub app_limited: bool,
}

/// Turns sent packets and reports into samples.
///
/// The draft times arrivals by when acknowledgements come back. Reports come in batches here, so the receiver's own
/// times are used (specs/bbr.md 8), except for the first packets after a pause, which have no earlier arrival to count
/// from.
#[derive(Debug, Clone, Default)]
pub struct DeliveryRate {
    newest: Newest,
    /// The same before each of the last reports, for packets that are reported later.
    earlier: Earlier<Newest>,
    /// The application is limiting until more than this is delivered (C.app_limited).
    app_limited_until: Option<Bytes>,
    /// The state above at the sending time of each packet in flight.
    flights: VecDeque<Flight>,
}

/// The newest packet that was delivered.
#[derive(Debug, Clone, Copy, Default)]
struct Newest {
    /// When it was sent, or the first packet after nothing was in flight (C.first_sent_time).
    sent: Time,
    /// When it arrived, by the receiver's clock; `None` if nothing arrived since nothing was in flight (C.delivered_time).
    arrival: Option<Time>,
}

#[derive(Debug, Clone, Copy)]
struct Flight {
    id: PacketId,
    newest: Newest,
    app_limited: bool,
}

impl DeliveryRate {
    /// Records a sent packet; the history must have filled in its flow state.
    pub fn on_sent(&mut self, packet: &SentPacket) {
        if packet.in_flight == packet.size {
            self.newest = Newest { sent: packet.at, arrival: None };
            self.earlier.clear();
        }
        self.flights.push_back(Flight {
            id: packet.id,
            newest: self.earlier.at(packet.at).unwrap_or(self.newest),
            app_limited: self.app_limited_until.is_some(),
        });
        if packet.app_limited {
            self.app_limited_until = Some(packet.delivered + packet.in_flight);
        }
    }

    /// The sample of a report. `None` if nothing newer than before arrived, or if the interval is below the min
    /// round-trip time, which happens only with bunched arrivals (the draft discards those too).
    pub fn on_feedback(&mut self, feedback: &Feedback<'_>) -> Option<RateSample> {
        self.earlier.on_report(feedback.now, self.newest);
        let judged = feedback.reports.last()?.packet.id;
        let newest = feedback.reports.iter().rev().find(|report| report.arrival().is_some());
        let mut flight = None;
        while let Some(front) = self.flights.front().copied().filter(|front| front.id <= judged) {
            self.flights.pop_front();
            flight = flight.or(newest.filter(|report| report.packet.id == front.id).map(|_| front));
        }
        if self.app_limited_until.is_some_and(|until| feedback.delivered > until) {
            self.app_limited_until = None;
        }
        let (flight, packet) = (flight?, newest?.packet);
        let arrival = feedback.reports.iter().filter_map(Report::arrival).max()?;
        self.newest = Newest { sent: packet.at, arrival: Some(arrival) };
        let Newest { sent, arrival: last } = flight.newest;
        let sending = packet.at - sent;
        let arriving = last.map_or(feedback.now - sent, |last| arrival - last);
        let interval = sending.max(arriving);
        let delivered = feedback.delivered.saturating_sub(packet.delivered);
        (interval >= feedback.min_rtt?).then(|| RateSample {
            rate: delivered.per(interval),
            delivered,
            interval,
            delivered_before: packet.delivered,
            app_limited: flight.app_limited,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use alloc::vec::Vec;

    /// A sender and its samples.
    #[derive(Default)]
    struct Sender {
        sender: testing::Sender,
        rate: DeliveryRate,
    }

    impl Sender {
        fn send(&mut self, at: Time, app_limited: bool) {
            self.rate.on_sent(&self.sender.send(at, 1500, |packet| packet.app_limited = app_limited));
        }

        fn report(&mut self, now: Time, arrivals: &[(u64, Time)]) -> Option<RateSample> {
            self.rate.on_feedback(&self.sender.report(now, arrivals))
        }
    }

    #[test]
    fn eighteen_kilobytes_count_over_the_longer_of_sending_and_arriving() {
        // specs/bbr.md 9, example 2: sent over 30 or 12 ms, arriving over 24; the receiver's clock is far ahead.
        let clock = |ms: u64| Time::from_millis(1_000_000 + ms);
        for (round_trip, last_sent, kbps) in [(20, 30, 4800), (10, 12, 6000)] {
            let mut sender = Sender::default();
            (0..2).for_each(|_| sender.send(Time::ZERO, false));
            sender.report(Time::from_millis(round_trip), &[(0, clock(round_trip / 2))]);
            (2..=12).for_each(|id| {
                let at = round_trip + (last_sent - round_trip) * (id - 2) / 10;
                sender.send(Time::from_millis(at), false);
            });
            let last = round_trip / 2 + 24;
            let arrivals: Vec<(u64, Time)> = (1..=12).map(|id| (id, clock(last - 12 + id))).collect();
            let sample = sender.report(Time::from_millis(last + round_trip / 2), &arrivals).unwrap();
            assert_eq!((sample.delivered, sample.delivered_before), (Bytes::new(18_000), Bytes::new(1500)));
            assert_eq!(sample.rate, Rate::from_kbps(kbps));
        }
    }

    #[test]
    fn a_full_path_is_measured_whatever_the_reports() {
        // 6 Mbps of 1500 bytes is one each 2 ms; 25 ms each way, two thirds of a window of 50 packets in the queue.
        for batch in [1, 15, 31] {
            let mut sender = Sender::default();
            (0..50).for_each(|_| sender.send(Time::ZERO, false));
            let arrival = |id: u64| Time::from_millis(2 * (id + 1) + 25);
            for first in (0..2000).step_by(batch) {
                let arrivals: Vec<(u64, Time)> = (first..first + batch as u64).map(|id| (id, arrival(id))).collect();
                let now = arrivals[batch - 1].1 + Span::from_millis(25);
                let sample = sender.report(now, &arrivals);
                (0..batch).for_each(|_| sender.send(now, false));
                if first > 100 {
                    let sample = sample.expect("each report has a sample");
                    assert_eq!((sample.rate, sample.app_limited), (Rate::from_kbps(6000), false), "batch {batch}");
                }
            }
        }
    }

    #[test]
    fn samples_are_limited_by_the_application_until_what_was_sent_after_it_left_room_arrives() {
        let mut sender = Sender::default();
        let ms = Time::from_millis;
        sender.send(ms(0), true);
        let mut limited = Vec::new();
        for id in 0..4 {
            sender.send(ms(40 * id + 1), false);
            limited.extend(sender.report(ms(40 * id + 30), &[(id, ms(40 * id + 15))]).map(|sample| sample.app_limited));
        }
        // Packet 0 begins the app-limited phase and is not part of it itself; 1 and 2 left before that phase ended.
        assert_eq!(limited, [false, true, true, false]);
    }

    #[test]
    fn after_a_pause_counting_begins_with_the_next_packet() {
        let mut sender = Sender::default();
        let ms = Time::from_millis;
        sender.send(ms(0), false);
        assert!(sender.report(ms(20), &[(0, ms(10))]).is_some());
        sender.send(ms(10_000), false);
        let sample = sender.report(ms(10_020), &[(1, ms(10_010))]).unwrap();
        assert_eq!((sample.delivered, sample.interval), (Bytes::new(1500), Span::from_millis(20)));
    }

    #[test]
    fn news_of_an_older_packet_or_of_losses_alone_is_no_sample() {
        let mut sender = Sender::default();
        let ms = Time::from_millis;
        (0..6).for_each(|id| sender.send(ms(id), false));
        assert!(sender.report(ms(30), &[(4, ms(20))]).is_some());
        assert_eq!(sender.report(ms(31), &[(2, ms(21))]), None);
        assert_eq!(sender.rate.flights.len(), 1);
        let feedback = sender.sender.history.on_timeout(ms(60_000)).unwrap();
        assert_eq!(sender.rate.on_feedback(&feedback), None);
        assert!(sender.rate.flights.is_empty());
    }
}
