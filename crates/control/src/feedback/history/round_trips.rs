//! Round-trip times, with and without the wait for reports.

use thalweg_units::{Span, Time};

use crate::feedback::{Report, mean};
use crate::packet::PacketId;

/// Drift rate applied to the min return delay: it grows by this share of the elapsed time, as it appears to when the
/// receiver's clock is slow. A sliding window would forget the old minimum all at once, and the jump would look like a
/// queue.
const CLOCK_DRIFT: f64 = 100e-6;
/// The min round-trip time, whatever a receiver claims.
const MIN: Span = Span::from_nanos(1);
/// The probe timeout before the first sample: a round trip of 333 ms with half of it as variation (RFC 9002 section
/// 6.2.2).
const PROBE_TIMEOUT_BEFORE_SAMPLES: Span = Span::from_millis(999);
/// The resolution of timers (RFC 9002 section 6.1.2, kGranularity).
const GRANULARITY: Span = Span::from_millis(1);
/// A wait for arrivals is an outage after this many probe timeouts (RFC 9002 section 7.6.1,
/// kPersistentCongestionThreshold).
const OUTAGE_PROBE_TIMEOUTS: i64 = 3;

/// The newest packet of a report.
#[derive(Debug, Clone, Copy)]
pub(super) struct Newest {
    pub(super) id: PacketId,
    pub(super) sent: Time,
    pub(super) arrival: Time,
}

impl Newest {
    /// Arrival time minus sending time, from two different clocks.
    pub(super) fn delay(&self) -> Span {
        self.arrival - self.sent
    }
}

/// The round-trip times of the connection.
#[derive(Debug, Clone, Default)]
pub(super) struct RoundTrips {
    srtt: Option<Span>,
    /// The mean deviation from `srtt` (RFC 9002 section 5.3).
    rttvar: Span,
    /// When the last sample was taken.
    sampled: Time,
    /// Only packets from this one on are samples: those sent before sat out an outage, which is no round trip.
    first: PacketId,
    /// True if no packet from `first` on has arrived: the next sample begins the smoothing anew.
    restarting: bool,
    min: Option<Span>,
    path: Option<Span>,
    /// Time from arrival by the receiver's clock to feedback by the sender's clock: the return path, the hold and the
    /// clock offset.
    min_return: Option<(Time, Span)>,
    /// See [`History::reverse_queueing`](super::History::reverse_queueing).
    reverse_queueing: Span,
}

impl RoundTrips {
    /// Smoothed time from sending to feedback.
    pub(super) fn srtt(&self) -> Option<Span> {
        self.srtt
    }

    /// The min round-trip time.
    pub(super) fn min(&self) -> Option<Span> {
        self.min
    }

    /// The newest packet's round trip without the wait for its report.
    pub(super) fn path(&self) -> Option<Span> {
        self.path
    }

    pub(super) fn reverse_queueing(&self) -> Span {
        self.reverse_queueing
    }

    /// The first packet whose round trip is a sample.
    pub(super) fn first(&self) -> PacketId {
        self.first
    }

    /// How long to wait for feedback after the last packet before the path is probed (RFC 9002 section 6.2.1). Feedback
    /// that waits for its report does so in every sample, so no further delay is added for it.
    pub(super) fn probe_timeout(&self) -> Span {
        self.srtt.map_or(PROBE_TIMEOUT_BEFORE_SAMPLES, |srtt| srtt + (self.rttvar * 4).max(GRANULARITY))
    }

    /// A wait for arrivals that is longer than this is an outage.
    pub(super) fn outage(&self) -> Span {
        self.probe_timeout() * OUTAGE_PROBE_TIMEOUTS
    }

    /// An outage has ended: smoothing begins anew with this packet.
    pub(super) fn restart(&mut self, first: PacketId) {
        (self.first, self.restarting) = (first, true);
    }

    /// Returns true if no packet sent since the last outage has given a sample yet.
    pub(super) fn is_restarting(&self) -> bool {
        self.restarting
    }

    /// Takes a report of arrivals; returns the newest packet's round-trip time, with and without the wait for its
    /// report.
    #[inline]
    pub(super) fn on_report(
        &mut self,
        now: Time,
        newest: Newest,
        hold: Option<Span>,
        arrived: &[Report],
    ) -> (Span, Option<Span>) {
        let rtt = (now - newest.sent - hold.unwrap_or(Span::ZERO)).max(MIN);
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
        let samples = arrived.iter().filter(|report| report.is_sample(self.first));
        let number = samples.clone().count();
        if let Some(flight) = mean(samples.map(|report| now - report.packet.at)) {
            self.smooth(now, flight.max(MIN), number);
        }
        let path = self.path_rtt(now - hold.unwrap_or(Span::ZERO), newest.delay(), arrived);
        self.path = path.or(self.path);
        (rtt, path)
    }

    /// Gain 1/8 (RFC 9002 section 5.3). A fall counts by the share of a round trip that lies between two samples, where
    /// that is more: a sender paced at window / srtt gets the fewer samples the larger srtt is, and an eighth of each
    /// would keep it slow for more than two of the old round trips after the queue is gone. `number` samples of one
    /// report share the wait for it, because a report that comes every 100 ms does not mean that little is sent.
    fn smooth(&mut self, now: Time, flight: Span, number: usize) {
        match self.srtt.filter(|_| !self.restarting) {
            Some(srtt) => {
                self.rttvar += ((flight - srtt).abs() - self.rttvar) / 4;
                let mut step = (flight - srtt) / 8;
                if flight < srtt {
                    let apart = (now - self.sampled).as_secs_f64() / number as f64;
                    step = step.min((flight - srtt).scale((apart / srtt.as_secs_f64()).min(1.0)));
                }
                self.srtt = Some(srtt + step);
            }
            None => (self.srtt, self.rttvar) = (Some(flight), flight / 2),
        }
        (self.sampled, self.restarting) = (now, false);
    }

    /// Forward delay of the newest packet plus the recent min return delay: the time that reports wait, at the receiver
    /// or in the queues of the reverse path, is not a delay of the forward path to be measured. `now` already excludes
    /// the hold where the report states it.
    fn path_rtt(&mut self, now: Time, delay: Span, arrived: &[Report]) -> Option<Span> {
        let last = arrived.iter().filter_map(Report::arrival).max()?;
        let fresh = now - last;
        let min = self.min_return.map_or(fresh, |(at, min)| fresh.min(min + (now - at).scale(CLOCK_DRIFT)));
        // If no delay is left, the receiver's clock was set back: the learned minimum is invalid.
        let min = if delay + min > Span::ZERO { min } else { fresh };
        self.min_return = Some((now, min));
        let queueing = (fresh - min).max(Span::ZERO);
        self.reverse_queueing = queueing.max(self.reverse_queueing - self.reverse_queueing / 16);
        Some((delay + min).max(MIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::history::tests::{arrived, sent};
    use crate::feedback::{Config, History};

    #[test]
    fn the_wait_for_a_batch_is_no_delay_of_the_path_but_counts_in_srtt() {
        let mut history = History::new(Config::default());
        // 25 ms each way, a clock 100 s ahead; the first report leaves as its packet arrives, the second 40 ms after
        // its packet.
        let clock = |ms: u64| Time::from_millis(ms + 100_000);
        sent(&mut history, 0, 0);
        let feedback = history.on_report(Time::from_millis(50), &[arrived(0, clock(25))], None);
        assert_eq!((feedback.path_rtt, feedback.mean_held()), (Some(Span::from_millis(50)), Some(Span::ZERO)));
        sent(&mut history, 1, 100);
        sent(&mut history, 2, 110);
        let both = [arrived(1, clock(125)), arrived(2, clock(145))];
        let feedback = history.on_report(Time::from_millis(210), &both, None);
        let near =
            |reported: Option<Span>, ms: i64| (reported.unwrap() - Span::from_millis(ms)).abs() < Span::from_micros(20);
        assert_eq!(feedback.rtt, Some(Span::from_millis(100)));
        assert!(near(feedback.path_rtt, 60), "{:?}", feedback.path_rtt);
        assert!(near(feedback.rtt_of(&feedback.reports[0]), 50));
        assert!(near(feedback.held(&feedback.reports[0]), 60) && near(feedback.mean_held(), 50));
        // The mean time to feedback of the two is 105 ms: move an eighth of the way from 50.
        assert_eq!(feedback.srtt, Some(Span::from_micros(56_875)));
    }

    #[test]
    fn a_queue_on_the_reverse_path_is_no_queue_of_the_path_whether_or_not_the_hold_is_reported() {
        for hold in [None, Some(Span::ZERO)] {
            let mut history = History::new(Config::default());
            sent(&mut history, 0, 0);
            history.on_report(Time::from_millis(50), &[arrived(0, Time::from_millis(25))], hold);
            sent(&mut history, 1, 100);
            // 25 ms on the forward path, 65 ms on the reverse path.
            let feedback = history.on_report(Time::from_millis(190), &[arrived(1, Time::from_millis(125))], hold);
            let path = feedback.path_rtt.unwrap();
            assert!((path - Span::from_millis(50)).abs() < Span::from_micros(20), "{hold:?}: {path}");
            assert_eq!(feedback.rtt, Some(Span::from_millis(90)));
        }
    }

    #[test]
    fn srtt_falls_by_the_time_between_samples_and_a_batch_of_them_is_not_far_apart() {
        // 200 ms at first; 100 ms later a report of packets that took 40 ms.
        let after = |number: u64| {
            let mut history = History::new(Config::default());
            sent(&mut history, 0, 0);
            history.on_report(Time::from_millis(200), &[arrived(0, Time::from_millis(180))], None);
            let batch: alloc::vec::Vec<_> = (1..=number).map(|id| arrived(id, Time::from_millis(280))).collect();
            (1..=number).for_each(|id| {
                sent(&mut history, id, 260);
            });
            history.on_report(Time::from_millis(300), &batch, None);
            history.srtt().unwrap()
        };
        // Half a round trip between samples, a quarter, and less than the eighth that any report counts.
        assert_eq!(after(1), Span::from_millis(120));
        assert_eq!(after(2), Span::from_millis(160));
        assert_eq!(after(20), Span::from_millis(180));
    }

    /// Packets 0 to 9, one each 10 ms, acknowledged 50 ms later; then 10 to 12, acknowledged at `ms` with `number` more.
    fn outage(ms: u64, number: u64) -> History {
        let mut history = History::default();
        let ack = |history: &mut History, id: u64, ms: u64| {
            history.on_report(Time::from_millis(ms), &[arrived(id, Time::from_millis(ms - 25))], None);
        };
        for id in 0..13 {
            sent(&mut history, id, 10 * id);
        }
        (0..10).for_each(|id| ack(&mut history, id, 10 * id + 50));
        (10..13).for_each(|id| ack(&mut history, id, ms));
        for id in 13..13 + number {
            sent(&mut history, id, ms + 10);
            ack(&mut history, id, ms + 70);
        }
        history
    }

    #[test]
    fn what_sat_out_an_outage_is_no_round_trip_and_smoothing_begins_anew_with_what_is_sent_after_it() {
        // 50 ms without variation: the probe timeout is 50 + 4 * 3 ms or less, an outage more than three of them.
        assert_eq!(outage(1500, 0).srtt(), Some(Span::from_millis(50)));
        assert_eq!(outage(1500, 1).srtt(), Some(Span::from_millis(60)));
        // Packet 10 waited 90 ms longer than before: a queue, no outage; an eighth of it counts, three times.
        assert!(outage(230, 0).srtt() > Some(Span::from_millis(65)));
    }

    #[test]
    fn a_path_that_becomes_slow_is_an_outage_once_and_then_its_round_trip_is_known() {
        let mut history = outage(1500, 0);
        // 1.2 s are an outage as long as three probe timeouts and their double, 300 and 600 ms, are shorter.
        for (id, ms, known) in [(13, 3000, 50), (14, 4500, 50), (15, 6000, 1200)] {
            sent(&mut history, id, ms - 1200);
            history.on_report(Time::from_millis(ms), &[arrived(id, Time::from_millis(ms - 25))], None);
            assert_eq!(history.srtt(), Some(Span::from_millis(known)), "{id}");
        }
    }

    #[test]
    fn a_packet_declared_lost_is_no_round_trip_when_it_arrives_after_all() {
        let mut history = History::default();
        (0..4).for_each(|id| {
            sent(&mut history, id, 0);
        });
        history.on_report(Time::from_millis(50), &[arrived(3, Time::from_millis(25))], None);
        let late = history.on_report(Time::from_millis(90), &[arrived(0, Time::from_millis(65))], None);
        assert_eq!(late.rtt_of(&late.reports[0]), Some(Span::from_millis(90)));
        assert_eq!(late.rtt_sample(&late.reports[0]), None);
        assert_eq!(history.srtt(), Some(Span::from_millis(50)));
    }

    /// RFC 9002 sections 6.2.1 and 6.2.2: 999 ms before samples; then srtt + 4 rttvar, and twice that.
    #[test]
    fn the_path_is_probed_a_probe_timeout_after_the_last_packet_and_with_doubling_waits_until_it_answers() {
        let mut history = History::default();
        assert_eq!(history.next_probe(), Time::NEVER);
        sent(&mut history, 0, 100);
        assert_eq!(history.next_probe(), Time::from_millis(1099));
        history.on_report(Time::from_millis(150), &[arrived(0, Time::from_millis(125))], None);
        assert_eq!(history.next_probe(), Time::NEVER);
        sent(&mut history, 1, 200);
        sent(&mut history, 2, 300);
        // The first sample is 50 ms, its variation half of it.
        assert_eq!(history.next_probe(), Time::from_millis(450));
        assert_eq!(history.on_probe_timeout(Time::from_millis(449)), 0);
        assert_eq!(history.on_probe_timeout(Time::from_millis(450)), 2);
        // Also if its packets must wait for the pacer.
        assert_eq!(history.next_probe(), Time::from_millis(750));
        sent(&mut history, 3, 450);
        assert_eq!(history.next_probe(), Time::from_millis(750));
        history.on_probe_timeout(Time::from_millis(750));
        sent(&mut history, 4, 750);
        // Twice the first wait is longer than 200 ms.
        assert_eq!(history.next_probe(), Time::from_millis(1050));
        assert_eq!(History::new(Config { probe_packets: 0, ..Config::default() }).next_probe(), Time::NEVER);
    }

    #[test]
    fn a_receiver_that_acknowledges_before_a_packet_can_have_arrived_leaves_no_round_trip_of_nothing() {
        let mut history = History::new(Config::default());
        sent(&mut history, 0, 100);
        let feedback = history.on_report(Time::from_millis(100), &[arrived(0, Time::from_millis(100))], None);
        assert!(feedback.rtt > Some(Span::ZERO) && feedback.path_rtt > Some(Span::ZERO));
        assert!(feedback.srtt > Some(Span::ZERO));
    }

    #[test]
    fn a_receiver_clock_set_back_is_noticed() {
        let mut history = History::new(Config::default());
        sent(&mut history, 0, 0);
        history.on_report(Time::from_millis(50), &[arrived(0, Time::from_millis(100_025))], None);
        sent(&mut history, 1, 100);
        let feedback = history.on_report(Time::from_millis(150), &[arrived(1, Time::from_millis(125))], None);
        assert_eq!(feedback.path_rtt, Some(Span::from_millis(50)));
    }
}
