//! The packets of a report interval.

use alloc::vec::Vec;

use thalweg_units::{Bytes, Rate, Span, Time};

use super::feedback_gap::FeedbackGap;
use crate::feedback::{Cause, Fate, Feedback, mean};
use crate::packet::SentPacket;

/// A time without sending that is longer than this is a pause.
const PAUSE: Span = Span::from_secs(1);

/// The reported outcome of one packet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reported {
    pub(crate) packet: SentPacket,
    /// Its round-trip time as if it had been acknowledged at once; `None` if it is lost.
    pub(crate) rtt: Option<Span>,
    /// True if it arrived after an earlier interval had counted it as lost.
    pub(crate) was_lost: bool,
}

impl Reported {
    pub(crate) fn is_lost(&self) -> bool {
        self.rtt.is_none()
    }
}

/// The packets reported since the last interval ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Accumulator {
    feedback_gap: FeedbackGap,
    /// When the interval began: at the first reported arrival, or at the end of the interval before.
    began: Option<Time>,
    reported: Vec<Reported>,
}

impl Accumulator {
    /// Records that a packet left. A long pause of the sender is not part of an interval.
    pub(crate) fn on_sent(&mut self, at: Time) {
        let nothing_under_way = self.feedback_gap.on_sent(at);
        if nothing_under_way && self.reported.is_empty() && self.began.is_some_and(|began| at - began > PAUSE) {
            self.began = None;
        }
    }

    /// Takes feedback and returns the reports that reflect the path. Losses declared by a feedback timeout or hidden by
    /// a feedback gap are left out.
    pub(crate) fn on_feedback(&mut self, feedback: &Feedback<'_>) -> &[Reported] {
        if feedback.cause == Cause::FeedbackTimeout {
            self.feedback_gap.on_feedback_timeout(feedback.now);
            return &[];
        }
        self.feedback_gap.on_feedback(feedback);
        let before = self.reported.len();
        for report in feedback.reports {
            let reported = Reported { packet: report.packet, rtt: feedback.rtt_of(report), was_lost: false };
            match report.fate {
                Fate::Lost if self.feedback_gap.covers(&report.packet) => {}
                // It was late, not lost: withdraw the loss if the interval still holds it.
                Fate::Arrived { was_lost: true, .. } if !self.feedback_gap.covers(&report.packet) => {
                    let earlier =
                        self.reported[..before].iter_mut().rev().find(|earlier| earlier.packet.id == report.packet.id);
                    match earlier {
                        Some(earlier) => *earlier = reported,
                        None => self.reported.push(Reported { was_lost: true, ..reported }),
                    }
                }
                _ => self.reported.push(reported),
            }
        }
        if self.began.is_none() && self.reported.iter().any(|reported| !reported.is_lost()) {
            self.began = Some(feedback.now);
        }
        &self.reported[before..]
    }

    /// How long the interval has lasted; `None` before the first arrival.
    pub(crate) fn lasted(&self, now: Time) -> Option<Span> {
        let began = self.began?;
        self.reported.iter().any(|reported| !reported.is_lost()).then(|| now - began)
    }

    /// Ends the interval and returns its packets in order of sending.
    pub(crate) fn end(&mut self, now: Time) -> Interval {
        let span = self.began.replace(now).map_or(Span::ZERO, |began| now - began);
        let mut reported = core::mem::take(&mut self.reported);
        reported.sort_by_key(|reported| reported.packet.id);
        Interval { span, reported }
    }

    /// Discards the interval: the next one begins with the next reported arrival.
    pub(crate) fn clear(&mut self) {
        self.began = None;
        self.reported.clear();
    }
}

/// The packets reported in one report interval.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interval {
    /// Duration of the interval.
    pub(crate) span: Span,
    /// Packets in order of sending.
    pub(crate) reported: Vec<Reported>,
}

impl Interval {
    /// The rate of the packets for which `counts` holds.
    pub(crate) fn rate(&self, counts: impl Fn(&Reported) -> bool) -> Rate {
        self.reported
            .iter()
            .filter(|reported| counts(reported))
            .map(|reported| reported.packet.size)
            .sum::<Bytes>()
            .per(self.span)
    }

    /// The share of packets lost, 0..=1; 0 without packets.
    pub(crate) fn loss_ratio(&self) -> f64 {
        self.reported.iter().filter(|reported| reported.is_lost()).count() as f64 / self.reported.len().max(1) as f64
    }

    /// The mean size of a packet; zero without packets.
    pub(crate) fn mean_size(&self) -> Bytes {
        let bytes: Bytes = self.reported.iter().map(|reported| reported.packet.size).sum();
        Bytes::new(bytes.get() / self.reported.len().max(1) as u64)
    }

    /// The mean round-trip time of the packets that arrived.
    pub(crate) fn mean_rtt(&self) -> Option<Span> {
        mean(self.reported.iter().filter_map(|reported| reported.rtt))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::packet::{PacketId, Payload};
    use crate::testing::Sender;

    /// A reported packet; `rtt_ms` is `None` if it is lost.
    pub(crate) fn reported(id: u64, bytes: u64, rtt_ms: Option<i64>) -> Reported {
        let packet = SentPacket::new(PacketId(id), Time::from_millis(10 * id), Bytes::new(bytes));
        Reported { packet, rtt: rtt_ms.map(Span::from_millis), was_lost: false }
    }

    /// As `reported`, for a packet of this kind.
    pub(crate) fn reported_of(payload: Payload, id: u64, bytes: u64, rtt_ms: Option<i64>) -> Reported {
        let reported = reported(id, bytes, rtt_ms);
        Reported { packet: SentPacket { payload, ..reported.packet }, ..reported }
    }

    #[derive(Default)]
    struct Path {
        sender: Sender,
        accumulator: Accumulator,
    }

    impl Path {
        fn send(&mut self, ids: core::ops::Range<u64>, at_ms: u64) {
            ids.for_each(|_| self.accumulator.on_sent(self.sender.send(Time::from_millis(at_ms), 1000, |_| {}).at));
        }

        /// Reports at `now_ms` that these packets arrived 50 ms earlier; returns how many arrived and how many were
        /// lost.
        fn report(&mut self, now_ms: u64, ids: &[u64]) -> (usize, usize) {
            let arrivals: Vec<(u64, Time)> = ids.iter().map(|id| (*id, Time::from_millis(now_ms - 50))).collect();
            let new_reports = self.accumulator.on_feedback(&self.sender.report(Time::from_millis(now_ms), &arrivals));
            let lost = new_reports.iter().filter(|reported| reported.is_lost()).count();
            (new_reports.len() - lost, lost)
        }
    }

    #[test]
    fn an_interval_begins_with_the_first_arrival_and_has_its_packets_in_order() {
        let mut path = Path::default();
        path.send(0..10, 0);
        assert_eq!(path.accumulator.lasted(Time::from_millis(90)), None);
        assert_eq!(path.report(100, &[0, 1]), (2, 0));
        assert_eq!(path.report(180, &[3, 4, 5, 7, 6]), (5, 1));
        assert_eq!(path.accumulator.lasted(Time::from_millis(300)), Some(Span::from_millis(200)));
        let interval = path.accumulator.end(Time::from_millis(300));
        assert!(interval.reported.is_sorted_by_key(|reported| reported.packet.id) && interval.reported.len() == 8);
        assert_eq!(interval.rate(|reported| !reported.is_lost()), Rate::from_kbps(280));
        assert_eq!((interval.loss_ratio(), interval.mean_size()), (0.125, Bytes::new(1000)));
        assert_eq!(path.accumulator.lasted(Time::from_millis(400)), None);
    }

    #[test]
    fn a_late_packet_takes_back_that_it_was_lost() {
        let mut path = Path::default();
        path.send(0..6, 0);
        assert_eq!(path.report(100, &[0, 2, 3, 4]), (4, 1));
        path.report(120, &[1]);
        let interval = path.accumulator.end(Time::from_millis(200));
        assert_eq!((interval.reported.len(), interval.loss_ratio()), (5, 0.0));
    }

    #[test]
    fn what_a_feedback_timeout_swallowed_is_no_loss_and_what_is_lost_after_it_is() {
        let mut path = Path::default();
        path.send(0..3, 0);
        path.report(100, &[0, 1]);
        path.send(3..10, 200);
        // Packets 2 to 8 are not reported.
        assert_eq!(path.report(2600, &[9]), (1, 0));
        path.send(10..20, 2700);
        assert_eq!(path.report(2800, &[10, 11, 13, 14, 15, 16]), (6, 1));
    }

    #[test]
    fn what_a_feedback_timeout_had_declared_lost_is_no_loss_that_is_taken_back() {
        let mut path = Path::default();
        path.send(0..3, 0);
        path.report(100, &[0, 1]);
        path.send(3..6, 200);
        let due = path.sender.history.next_timeout();
        let feedback_timeout = path.sender.history.on_timeout(due).expect("it has lasted");
        assert!(path.accumulator.on_feedback(&feedback_timeout).is_empty());
        path.send(6..7, 5_000);
        path.report(5_100, &[2, 3, 4, 5, 6]);
        let interval = path.accumulator.end(Time::from_millis(5_200));
        assert_eq!((interval.reported.len(), interval.loss_ratio()), (7, 0.0));
        assert!(interval.reported.iter().all(|reported| !reported.was_lost));
    }

    #[test]
    fn a_pause_of_the_sender_is_no_feedback_timeout() {
        let mut path = Path::default();
        path.send(0..2, 0);
        path.report(100, &[0, 1]);
        path.send(2..8, 9_000);
        assert_eq!(path.report(9_100, &[3, 4, 5, 6, 7]), (5, 1));
        // Nor is the pause part of the interval in which it ends.
        path.accumulator.end(Time::from_millis(9_100));
        path.send(8..10, 19_000);
        path.report(19_100, &[8, 9]);
        assert_eq!(path.accumulator.lasted(Time::from_millis(19_250)), Some(Span::from_millis(150)));
    }
}
