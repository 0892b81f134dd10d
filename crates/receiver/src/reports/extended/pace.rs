//! When extended reports are sent: at regular intervals, and early after losses or discards (RFC 4585 section 3.5).

use thalweg_units::{Random, Seed, Span, Time};

use super::stream::Learned;

/// Min interval of regular reports (specs/fbra.md 1, a reading).
const MIN: Span = Span::from_millis(200);
/// The interval in round trips, where that is longer (FBRA).
const ROUND_TRIPS: i64 = 2;
/// Max interval (our choice): a sender without feedback for 2 s assumes an outage (FBRA), and after an early report
/// nearly two intervals and a queue on the reverse path may pass until the next.
const MAX: Span = Span::from_millis(900);

/// A drawn interval is between these multiples of the interval (RFC 3550 section 6.3.1). It is not also divided by
/// e - 1.5: that compensates for timer reconsideration, which two peers have no use for.
const DRAWN: (f64, f64) = (0.5, 1.5);

/// Report times. With two peers an early report need not wait (RFC 4585's T_dither_max is 0), and regular reports need
/// not be randomised: both are for groups.
#[derive(Debug)]
pub(super) struct Pace {
    interval: Span,
    /// Source of random intervals; `None` for equal ones.
    random: Option<Random>,
    /// When the next regular report is due; `None` before the first packet.
    regular: Option<Time>,
    /// When an early report is due.
    early: Time,
    /// True if an early report is allowed: none was sent since the last regular one (RFC 4585's `allow_early`).
    may_be_early: bool,
    /// True if there is anything to report.
    has_unreported: bool,
}

impl Pace {
    pub(super) fn new() -> Pace {
        let (random, regular) = (None, None);
        Pace { interval: MIN, random, regular, early: Time::NEVER, may_be_early: true, has_unreported: false }
    }

    /// Draws the intervals from `seed` from now on.
    pub(super) fn randomise(&mut self, seed: Seed) {
        self.random = Some(seed.random());
    }

    /// The next interval.
    fn draw(&mut self) -> Span {
        let interval = self.interval;
        self.random.as_mut().map_or(interval, |random| interval.scale(random.between(DRAWN.0, DRAWN.1)))
    }

    /// Sets the round-trip time.
    pub(super) fn learn(&mut self, round_trip: Span) {
        self.interval = (round_trip * ROUND_TRIPS).clamp(MIN, MAX);
    }

    /// A packet arrived, with this effect.
    pub(super) fn on_packet(&mut self, now: Time, learned: Learned) {
        if learned != Learned::Nothing {
            self.on_news(now);
        }
        if learned == Learned::Loss {
            self.on_trouble(now);
        }
    }

    /// There is something to report. Regular report times that passed without anything to report are skipped.
    pub(super) fn on_news(&mut self, now: Time) {
        self.has_unreported = true;
        let at = self.regular.unwrap_or_else(|| now + self.draw());
        let passed = (now - at).max(Span::ZERO).as_nanos();
        let intervals = passed / self.interval.as_nanos() + i64::from(passed % self.interval.as_nanos() != 0);
        self.regular = Some(at + self.interval * intervals);
    }

    /// Requests an early report, if one is allowed.
    pub(super) fn on_trouble(&mut self, now: Time) {
        if self.may_be_early {
            self.early = now;
        }
    }

    /// When the next report is due.
    pub(super) fn next(&self) -> Time {
        match self.regular {
            Some(regular) if self.has_unreported => regular.min(self.early),
            _ => Time::NEVER,
        }
    }

    /// The due report was sent. After an early report the next regular one is skipped.
    pub(super) fn on_report(&mut self, now: Time) {
        let was_early = self.regular.is_some_and(|regular| now < regular);
        let from = if was_early { self.regular.unwrap_or(now) } else { now };
        self.regular = Some(from + self.draw());
        (self.may_be_early, self.early, self.has_unreported) = (!was_early, Time::NEVER, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    /// Report times with a packet every 10 ms and trouble at these times.
    fn reports(round_trip: i64, troubles: &[u64], until: u64) -> Vec<u64> {
        let mut pace = Pace::new();
        pace.learn(Span::from_millis(round_trip));
        let mut left = Vec::new();
        for at in (0..until).step_by(10) {
            pace.on_news(MS(at));
            if troubles.contains(&at) {
                pace.on_trouble(MS(at));
            }
            if pace.next() <= MS(at) {
                pace.on_report(MS(at));
                left.push(at);
            }
        }
        left
    }

    #[test]
    fn reports_leave_each_200_ms_or_two_round_trips_and_no_more_than_900_ms_apart() {
        assert_eq!(reports(20, &[], 700), [200, 400, 600]);
        assert_eq!(reports(150, &[], 1000), [300, 600, 900]);
        assert_eq!(reports(5000, &[], 3000), [900, 1800, 2700]);
    }

    #[test]
    fn drawn_intervals_are_half_to_one_and_a_half_of_the_interval_and_as_long_on_average() {
        let mut pace = Pace::new();
        pace.randomise(Seed::new(1));
        let mut at = MS(0);
        let intervals: Vec<Span> = (0..1000)
            .map(|_| {
                pace.on_news(at);
                let due = pace.next();
                pace.on_report(due);
                due - std::mem::replace(&mut at, due)
            })
            .collect();
        let (least, most) = (*intervals.iter().min().unwrap(), *intervals.iter().max().unwrap());
        assert!((100..110).contains(&least.as_millis()) && (290..300).contains(&most.as_millis()), "{least} {most}");
        let mean = at.as_nanos() / 1_000_000 / 1000;
        assert!((195..205).contains(&mean), "{mean}");
    }

    #[test]
    fn trouble_is_told_at_once_and_the_next_regular_report_left_out() {
        assert_eq!(reports(20, &[250], 900), [200, 250, 600, 800]);
        // A second early request waits for the regular report; after that, early reports are allowed again.
        assert_eq!(reports(20, &[250, 300, 590, 650], 1200), [200, 250, 600, 650, 1000]);
    }

    #[test]
    fn after_a_pause_the_regular_times_go_on() {
        let mut pace = Pace::new();
        pace.on_news(MS(0));
        pace.on_report(MS(200));
        assert_eq!(pace.next(), Time::NEVER);
        pace.on_news(MS(1000));
        assert_eq!(pace.next(), MS(1000));
        pace.on_news(MS(1001));
        assert_eq!(pace.next(), MS(1200));
    }
}
