//! Application-limited regions (ALR): periods in which the encoder produces clearly less than it may (specs/gcc.md 9;
//! libwebrtc `alr_detector.cc`).

use thalweg_units::{Bytes, Rate, Span, Time};

/// Parameters; the defaults are those in effect (`alr_experiment.cc`), not those in the header.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The share of the estimate at which sending leaves the budget unchanged.
    pub usage: f64,
    /// The region begins above this share of the budget ...
    pub start: f64,
    /// ... and ends below this.
    pub stop: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config { usage: 0.80, start: 0.40, stop: -0.60 }
    }
}

/// The budget holds at most this much time at its rate.
const BUDGET: Span = Span::from_millis(500);

/// A budget that fills at a share of the estimate and drains with the bytes sent.
#[derive(Debug, Clone)]
pub(super) struct AlrDetector {
    config: Config,
    rate: Rate,
    level: f64,
    last: Option<Time>,
    since: Option<Time>,
}

impl AlrDetector {
    pub(super) fn new(config: Config) -> AlrDetector {
        AlrDetector { config, rate: Rate::ZERO, level: 0.0, last: None, since: None }
    }

    pub(super) fn set_estimate(&mut self, estimate: Rate) {
        self.rate = estimate.scale(self.config.usage);
    }

    /// The start of the current region; `None` outside one.
    pub(super) fn since(&self) -> Option<Time> {
        self.since
    }

    pub(super) fn on_sent(&mut self, now: Time, size: Bytes) {
        let Some(last) = self.last.replace(now) else { return };
        let max = self.rate.over(BUDGET).as_f64();
        if max <= 0.0 {
            return;
        }
        let filled = self.rate.as_bps_f64() * (now - last).as_secs_f64() / 8.0;
        self.level = (self.level - size.as_f64()).max(-max);
        self.level = (self.level + filled).min(max);
        let share = self.level / max;
        if self.since.is_none() && share > self.config.start {
            self.since = Some(now);
        } else if self.since.is_some() && share < self.config.stop {
            self.since = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sending_two_fifths_of_the_estimate_begins_a_region_after_400_ms_and_more_than_it_ends_one() {
        let mut alr = AlrDetector::new(Config::default());
        alr.set_estimate(Rate::from_kbps(1000));
        let mut now = Time::ZERO;
        alr.on_sent(now, Bytes::ZERO);
        let mut began = None;
        for _ in 0..200 {
            now += Span::from_millis(5);
            alr.on_sent(now, Bytes::new(250));
            began = began.or(alr.since());
        }
        let began = began.unwrap();
        assert!((began - Time::from_millis(400)).abs() <= Span::from_millis(10), "{began}");
        let mut alr = AlrDetector { level: 20_000.0, since: Some(now), last: Some(now), ..alr };
        let from = now;
        while alr.since().is_some() {
            now += Span::from_millis(5);
            alr.on_sent(now, Bytes::new(750));
        }
        assert!((now - from - Span::from_millis(1000)).abs() <= Span::from_millis(10), "{}", now - from);
    }
}
