//! Queueing delay, and how much it varies.

use thalweg_units::{Span, Time};

use super::Config;
use crate::estimate::BaseDelay;

/// The weight of a report in the two averages that damp (`DelayMinAndLatencyDiffAvgG`, 1/32).
const DAMPING_GAIN: f64 = 1.0 / 32.0;
/// Growth and answers are damped to this at the most.
const LEAST: f64 = 0.1;
/// The cap on a sample: longer delays count as this.
const MOST: Span = Span::from_millis(20);
/// A queue above this does not drain by itself.
const STUCK: Span = Span::from_millis(5);
/// The min delay is taken over so many bins and the running one, each of a minute.
const BINS: usize = 10;
const BIN: Span = Span::from_secs(60);

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Delay {
    base: BaseDelay,
    /// The least of the report before.
    previous: Option<Span>,
    /// qdelay_avg; `None` before the first report.
    average: Option<Span>,
    /// The average least queueing delay of a report, in ms.
    least: f64,
    /// The average difference within a report, in ms.
    spread: f64,
    /// Since when the queue has been stuck, and until when it is drained.
    stuck_since: Option<Time>,
    drains_until: Option<Time>,
}

impl Delay {
    pub(super) fn new() -> Delay {
        Delay {
            base: BaseDelay::new(BINS, BIN),
            previous: None,
            average: None,
            least: 0.0,
            spread: 0.0,
            stuck_since: None,
            drains_until: None,
        }
    }

    /// A report whose packets had one-way delays from `least` to `most`, by two clocks.
    pub(super) fn on_report(&mut self, now: Time, (least, most): (Span, Span), srtt: Span, config: &Config) {
        self.base.add(now, least);
        let queue = self.base.get().map_or(Span::ZERO, |base| least - base);
        let sample = self.previous.map_or(queue, |previous| previous.min(queue));
        self.previous = Some(queue);
        self.average = Some(match self.average {
            Some(average) if sample >= average => sample / 4 + average.scale(0.75),
            _ => sample,
        });
        self.least += (queue.min(MOST).as_millis_f64() - self.least) * DAMPING_GAIN;
        self.spread += ((most - least).min(MOST).as_millis_f64() - self.spread) * DAMPING_GAIN;
        self.drain(now, srtt, config);
    }

    fn drain(&mut self, now: Time, srtt: Span, config: &Config) {
        if self.drains_until.is_some_and(|until| now >= until) {
            (self.drains_until, self.stuck_since) = (None, None);
            self.base = BaseDelay::new(BINS, BIN);
            self.previous = None;
        }
        if self.average() <= STUCK {
            self.stuck_since = None;
        } else if now - *self.stuck_since.get_or_insert(now) >= config.drain_after && self.drains_until.is_none() {
            self.drains_until = Some(now + Span::from_millis(100).max(srtt * 5));
        }
    }

    pub(super) fn average(&self) -> Span {
        self.average.unwrap_or_default()
    }

    /// Returns true while a queue that stood for long is being emptied.
    pub(super) fn drains(&self) -> bool {
        self.drains_until.is_some()
    }

    /// Between 0.1 and 1: less the longer the least delays are (F(qm)).
    pub(super) fn least_damping(&self, config: &Config) -> f64 {
        damping(self.least, config).max(LEAST)
    }

    /// The same down to 0: how far the send window is opened.
    pub(super) fn openness(&self, config: &Config) -> f64 {
        damping(self.least, config)
    }

    /// The same by the differences within reports (F(ld)).
    pub(super) fn spread_damping(&self, config: &Config) -> f64 {
        damping(self.spread, config).max(LEAST)
    }

    #[cfg(test)]
    pub(super) fn of(average: Span, least_ms: f64, spread_ms: f64) -> Delay {
        Delay { average: Some(average), least: least_ms, spread: spread_ms, ..Delay::new() }
    }
}

fn damping(millis: f64, config: &Config) -> f64 {
    let threshold = config.jitter.as_millis_f64();
    (LEAST + 1.2 * (threshold - millis) / threshold).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_damped_as_in_the_worked_example() {
        // specs/l4s.md 3.2.
        let config = Config::default();
        let at = |ms| Delay::of(Span::ZERO, ms, 0.0);
        let damped = [0.0, 2.5, 4.0, 5.0, 7.5, 10.0, 20.0].map(|ms| (at(ms).least_damping(&config) * 100.0).round());
        assert_eq!(damped, [100.0, 100.0, 82.0, 70.0, 40.0, 10.0, 10.0]);
        let opened = [0.0, 5.0, 7.5, 10.0, 11.0, 20.0].map(|ms| (at(ms).openness(&config) * 100.0).round());
        assert_eq!(opened, [100.0, 70.0, 40.0, 10.0, 0.0, 0.0]);
    }

    #[test]
    fn the_average_takes_the_lesser_of_two_reports_and_falls_at_once() {
        let (mut delay, config) = (Delay::new(), Config::default());
        let averages = [100, 140, 180, 120].map(|ms| {
            let least = Span::from_millis(ms);
            delay.on_report(Time::ZERO, (least, least), Span::from_millis(50), &config);
            delay.average().as_millis_f64()
        });
        // Queues of 0, 40, 80 and 20 ms.
        assert_eq!(averages, [0.0, 0.0, 10.0, 12.5]);
    }

    #[test]
    fn a_queue_that_stands_for_twenty_seconds_is_drained_and_its_base_forgotten() {
        let (mut delay, config) = (Delay::new(), Config::default());
        let mut report = |ms: u64, queue: i64| {
            let least = Span::from_millis(50 + queue);
            delay.on_report(Time::from_millis(ms), (least, least), Span::from_millis(40), &config);
            (delay.drains(), delay.average().as_millis())
        };
        report(0, 0);
        // The average is above 5 ms from the fourth report on.
        for ms in (100..20_400).step_by(100) {
            assert!(!report(ms, 10).0, "{ms}");
        }
        assert!(report(20_400, 10).0 && report(20_500, 10).0);
        assert!(!report(20_600, 10).0);
        assert_eq!(report(20_700, 10), (false, 0));
    }
}
