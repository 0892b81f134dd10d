//! Round-trip times, with and without the wait for reports.

use thalweg_units::{Span, Time};

use crate::feedback::Report;
use crate::packet::PacketId;

/// Drift rate applied to the min return delay: it grows by this share of the elapsed time, as it appears to when the
/// receiver's clock is slow. A sliding window would forget the old minimum all at once, and the jump would look like a
/// queue.
const CLOCK_DRIFT: f64 = 100e-6;
/// The min round-trip time, whatever a receiver claims.
const MIN: Span = Span::from_nanos(1);

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
#[derive(Debug, Default)]
pub(super) struct RoundTrips {
    srtt: Option<Span>,
    min: Option<Span>,
    path: Option<Span>,
    /// Time from arrival by the receiver's clock to feedback by the sender's clock: the return path, the hold and the
    /// clock offset.
    min_return: Option<(Time, Span)>,
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
        let flight = mean_flight(now, arrived);
        self.srtt = Some(self.srtt.map_or(flight, |srtt| srtt + (flight - srtt) / 8));
        let path = self.path_rtt(now - hold.unwrap_or(Span::ZERO), newest.delay(), arrived);
        self.path = path.or(self.path);
        (rtt, path)
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
        Some((delay + min).max(MIN))
    }
}

/// Mean time from sending to feedback.
fn mean_flight(now: Time, arrived: &[Report]) -> Span {
    let flights = arrived.iter().map(|report| now - report.packet.at);
    (flights.sum::<Span>() / arrived.len().max(1) as i64).max(MIN)
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
