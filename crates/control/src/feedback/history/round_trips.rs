//! Round-trip times, and the wait for reports in them.

use thalweg_units::{Span, Time};

use crate::feedback::Report;
use crate::packet::PacketId;

/// The least return delay is held to grow by this share of the time, as it seems to when the receiver's clock is slow. A window
/// would forget it all at once, and the jump would look like a queue.
const CLOCK_DRIFT: f64 = 100e-6;
/// No round trip is shorter, whatever a receiver claims.
const MIN: Span = Span::from_nanos(1);

/// The newest packet of a report.
#[derive(Debug, Clone, Copy)]
pub(super) struct Newest {
    pub(super) id: PacketId,
    pub(super) sent: Time,
    pub(super) arrival: Time,
}

impl Newest {
    /// Arrival less sending time: two clocks.
    pub(super) fn delay(&self) -> Span {
        self.arrival - self.sent
    }
}

/// What the connection's round trips have been.
#[derive(Debug, Default)]
pub(super) struct RoundTrips {
    srtt: Option<Span>,
    min: Option<Span>,
    path: Option<Span>,
    /// From arrival by the receiver's clock to feedback on it by ours: the return path, the hold and the clocks' offset.
    min_return: Option<(Time, Span)>,
}

impl RoundTrips {
    /// Smoothed time from sending to hearing of it.
    pub(super) fn srtt(&self) -> Option<Span> {
        self.srtt
    }

    /// The least round trip.
    pub(super) fn min(&self) -> Option<Span> {
        self.min
    }

    /// The newest packet's round trip without the wait for its report.
    pub(super) fn path(&self) -> Option<Span> {
        self.path
    }

    /// Takes in a report of arrivals; returns the newest packet's round trip, as it was and as the path alone makes it.
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

    /// Forward delay of the newest packet and the least recent return delay: what reports wait for, at the receiver or in the queues
    /// of the reverse path, is no delay of the path that is to be judged. `now` is less the hold where the report tells it.
    fn path_rtt(&mut self, now: Time, delay: Span, arrived: &[Report]) -> Option<Span> {
        let last = arrived.iter().filter_map(Report::arrival).max()?;
        let fresh = now - last;
        let min = self.min_return.map_or(fresh, |(at, min)| fresh.min(min + (now - at).scale(CLOCK_DRIFT)));
        // Without any delay left, the receiver's clock was set back: what was learnt of it is void.
        let min = if delay + min > Span::ZERO { min } else { fresh };
        self.min_return = Some((now, min));
        Some((delay + min).max(MIN))
    }
}

/// Mean time from sending to hearing of it.
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
        // 25 ms each way, a clock 100 s ahead; the first report leaves as its packet arrives, the second 40 ms after.
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
        // Mean flight of the two is 105 ms, an eighth of the way from 50.
        assert_eq!(feedback.srtt, Some(Span::from_micros(56_875)));
    }

    #[test]
    fn a_queue_on_the_way_back_is_no_queue_of_the_path_whether_or_not_the_hold_is_told() {
        for hold in [None, Some(Span::ZERO)] {
            let mut history = History::new(Config::default());
            sent(&mut history, 0, 0);
            history.on_report(Time::from_millis(50), &[arrived(0, Time::from_millis(25))], hold);
            sent(&mut history, 1, 100);
            // 25 ms there, 65 ms back.
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
