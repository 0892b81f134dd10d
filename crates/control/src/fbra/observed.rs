//! The evaluation of an interval and its delay (specs/fbra.md 3).

use thalweg_units::{Bytes, Rate, Span, Time};

use super::{Config, Thresholds};
use crate::estimate::{Percentiles, WindowedMin};
use crate::packet::Payload;
use crate::reporting::{Interval, Reported};

/// The window of the min round trip: delay above it is queueing (60 s \[R\]).
const MIN_WINDOW: Span = Span::from_secs(60);

/// The input of the state machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Signs {
    /// True if packets were lost; `discards` if packets were discarded because of their delay.
    pub(super) losses: bool,
    pub(super) discards: bool,
    /// True if some of these losses, and discards, were in the second half of the interval, by sequence.
    pub(super) recent_losses: bool,
    pub(super) recent_discards: bool,
    /// C_high and C_low: the delay relative to percentiles of earlier delays. C_low is the larger of the two.
    pub(super) high: f64,
    pub(super) low: f64,
    /// True for an early report.
    pub(super) early: bool,
}

impl Signs {
    pub(super) fn losses_or_discards(&self) -> bool {
        self.losses || self.discards
    }
}

/// The wire rates of an interval. Audio counts as media, like video: R covers both together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rates {
    /// G: media that was neither lost nor discarded.
    pub(super) goodput: Rate,
    /// Media sent.
    pub(super) media: Rate,
    /// All packets sent, media included.
    pub(super) all: Rate,
    /// Number of video packets: FEC protects these.
    pub(super) media_packets: u16,
}

impl Rates {
    pub(super) fn of(interval: &Interval, arrived_in_time: impl Fn(&Reported) -> bool) -> Rates {
        let is_media = |reported: &Reported| matches!(reported.packet.payload, Payload::Media | Payload::Audio);
        let media_packets =
            interval.reported.iter().filter(|reported| reported.packet.payload == Payload::Media).count();
        Rates {
            goodput: interval.rate(|reported| is_media(reported) && arrived_in_time(reported)),
            media: interval.rate(is_media),
            all: interval.rate(|reported| reported.packet.size > Bytes::ZERO),
            media_packets: u16::try_from(media_packets).unwrap_or(u16::MAX),
        }
    }

    /// The max of the three rates.
    pub(super) fn greatest(&self) -> Rate {
        self.goodput.max(self.media).max(self.all)
    }
}

/// Delays of the last minute.
#[derive(Debug, Clone)]
pub(super) struct Delays {
    delay_max: Span,
    thresholds: Thresholds,
    min: WindowedMin<Span>,
    /// Delays of intervals without loss and discard.
    history: Percentiles,
    /// Round trips of the intervals.
    round_trips: Percentiles,
    /// The delay of the newest interval.
    newest: Option<Span>,
}

impl Delays {
    pub(super) fn new(config: &Config) -> Delays {
        let Thresholds { history, max_history, .. } = config.thresholds;
        Delays {
            delay_max: config.delay_max,
            thresholds: config.thresholds,
            min: WindowedMin::default(),
            history: Percentiles::new(history, max_history),
            round_trips: Percentiles::new(history, max_history),
            newest: None,
        }
    }

    /// Adds the round trip of a packet that arrived.
    pub(super) fn add(&mut self, now: Time, rtt: Span) {
        self.min.add(now, rtt, MIN_WINDOW);
    }

    /// OWD from a round trip: half of the min, plus all delay above it. Clocks need not agree, and the reverse path's
    /// queue does not count (specs/fbra.md: an absolute base matters, because thresholds are ratios).
    fn one_way(&self, rtt: Span) -> Span {
        rtt - self.min.get().unwrap_or(rtt) / 2
    }

    /// Returns true if a packet arrived too late to be shown.
    pub(super) fn is_discarded(&self, reported: &Reported) -> bool {
        reported.rtt.is_some_and(|rtt| self.one_way(rtt) > self.delay_max)
    }

    /// RTT_median.
    pub(super) fn round_trip(&self) -> Option<Span> {
        self.round_trips.get(0.5)
    }

    /// OWD of the newest interval.
    pub(super) fn newest(&self) -> Option<Span> {
        self.newest
    }

    /// Evaluates an interval; its delay joins the history if no packet was lost or discarded.
    pub(super) fn judge(&mut self, now: Time, interval: &Interval, early: bool) -> Signs {
        let half = interval.reported.len() / 2;
        let any = |wrong: &dyn Fn(&Reported) -> bool, from: usize| interval.reported[from..].iter().any(wrong);
        let (lost, discarded) =
            (&|reported: &Reported| reported.is_lost(), &|reported: &Reported| self.is_discarded(reported));
        let mut signs = Signs {
            losses: any(lost, 0),
            discards: any(discarded, 0),
            recent_losses: any(lost, half),
            recent_discards: any(discarded, half),
            high: 1.0,
            low: 1.0,
            early,
        };
        if let Some(rtt) = interval.mean_rtt() {
            let delay = self.one_way(rtt);
            self.newest = Some(delay);
            signs.high = self.compare(delay, self.thresholds.high_share);
            signs.low = self.compare(delay, self.thresholds.low_share);
            self.round_trips.add(now, rtt);
            if !signs.losses_or_discards() {
                self.history.add(now, delay);
            }
        }
        signs
    }

    /// A delay relative to a percentile of the history; 1 if the history is too short.
    fn compare(&self, delay: Span, share: f64) -> f64 {
        if self.history.len() < self.thresholds.min_history {
            return 1.0;
        }
        let percentile = self.history.get(share).unwrap_or(delay);
        delay.ratio(percentile.max(Span::from_nanos(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporting::tests::{reported, reported_of};
    use alloc::vec::Vec;

    fn interval(reported: Vec<Reported>) -> Interval {
        Interval { span: Span::from_millis(200), reported }
    }

    /// Delays on a path whose min round trip was 20 ms: OWD is RTT minus 10.
    fn delays() -> Delays {
        let mut delays = Delays::new(&Config::default());
        delays.add(Time::ZERO, Span::from_millis(20));
        delays
    }

    #[test]
    fn the_worked_history_gives_the_worked_ratios() {
        for (owd, high, low) in [(42, 1.010, 1.180), (43, 1.034, 1.208), (48, 1.154, 1.348), (67, 1.611, 1.882)] {
            let mut delays = delays();
            for owd in [31, 33, 34, 35, 36, 38, 40, 41, 44, 60] {
                delays.judge(Time::ZERO, &interval(alloc::vec![reported(0, 1000, Some(owd + 10))]), false);
            }
            let signs = delays.judge(Time::ZERO, &interval(alloc::vec![reported(0, 1000, Some(owd + 10))]), false);
            assert!((signs.high - high).abs() < 5e-4 && (signs.low - low).abs() < 5e-4, "{signs:?}");
            assert_eq!(delays.newest(), Some(Span::from_millis(owd)));
        }
    }

    #[test]
    fn fewer_than_five_delays_say_nothing_and_those_with_losses_never_join() {
        let mut delays = delays();
        let quiet = || interval(alloc::vec![reported(0, 1000, Some(40))]);
        let lossy = || interval(alloc::vec![reported(0, 1000, Some(40)), reported(1, 1000, None)]);
        (0..4).for_each(|_| {
            delays.judge(Time::ZERO, &quiet(), false);
            delays.judge(Time::ZERO, &lossy(), false);
        });
        let late = || interval(alloc::vec![reported(0, 1000, Some(100))]);
        assert_eq!(delays.clone().judge(Time::ZERO, &late(), false).high, 1.0);
        delays.judge(Time::ZERO, &quiet(), false);
        assert_eq!(delays.judge(Time::ZERO, &late(), false).high, 3.0);
    }

    #[test]
    fn what_happened_in_the_second_half_is_recent() {
        let signs = |reported| delays().judge(Time::ZERO, &interval(reported), false);
        let at =
            |lost: u64, rtt| (0..10).map(|id| reported(id, 1000, if id == lost { rtt } else { Some(40) })).collect();
        let first = signs(at(4, None));
        assert!(first.losses && !first.recent_losses && !first.discards);
        assert!(signs(at(5, None)).recent_losses);
        // The one-way delay is the round trip minus 10 ms: 400 is in time, 401 is not.
        assert!(!signs(at(9, Some(410))).discards);
        let late = signs(at(9, Some(411)));
        assert!(late.discards && late.recent_discards && !late.losses);
        assert!(!signs(at(2, Some(411))).recent_discards);
    }

    #[test]
    fn goodput_is_media_that_arrived_in_time() {
        let delays = delays();
        let reported = alloc::vec![
            reported(0, 1000, Some(40)),
            reported(1, 1000, None),
            reported(2, 1000, Some(500)),
            reported_of(Payload::Repair, 3, 1000, Some(40)),
            reported_of(Payload::Padding, 4, 500, Some(40)),
        ];
        let rates = Rates::of(&interval(reported), |reported| !reported.is_lost() && !delays.is_discarded(reported));
        assert_eq!(
            (rates.goodput, rates.media, rates.all),
            (Rate::from_kbps(40), Rate::from_kbps(120), Rate::from_kbps(180))
        );
        assert_eq!((rates.media_packets, rates.greatest()), (3, Rate::from_kbps(180)));
    }
}
