//! openpilot: the rule by which a comma device sets the rate of its live stream (docs/papers/opponents.md).
//!
//! Three rates; losses step down, and a row of reports without any steps up. Each step down doubles the row that the
//! next step up takes.

#[cfg(test)]
mod tests;

use thalweg_units::{ConfigError, Rate, Span, Time, check};

use crate::controller::{Controller, Decision, Demand, SendLimits};
use crate::decisions::Decisions;
use crate::feedback::Feedback;
use crate::packet::SentPacket;
use crate::reporting::{Accumulator, Limits};

/// A receiver report has its share of losses in this many parts (RFC 3550 section 6.4.1).
const PARTS: f64 = 256.0;

/// openpilot's parameters, by `LivestreamBitrateController`'s names in words (docs/papers/opponents.md).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The lowest rate (500 kbps).
    pub low: Rate,
    /// The rate between (1.5 Mbps).
    pub medium: Rate,
    /// The highest rate (5 Mbps).
    pub high: Rate,
    /// Begins at the highest of the three that is not above this (5 Mbps).
    pub start: Rate,
    /// The time between two receiver reports (ours: 1 s, as browsers send them).
    pub period: Span,
    /// Losses from which the rate steps down at once (0.1).
    pub much_loss: f64,
    /// Losses from which it steps down after a row of reports (0.05).
    pub some_loss: f64,
    /// How many reports with some loss step down (5).
    pub down_reports: i32,
    /// How many reports without loss step up, before the first step down (5).
    pub up_reports: i32,
    /// By this many times that grows with each step down (2).
    pub backoff: i32,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            low: Rate::from_kbps(500),
            medium: Rate::from_kbps(1500),
            high: Rate::from_kbps(5000),
            start: Rate::from_kbps(5000),
            period: Span::from_secs(1),
            much_loss: 0.1,
            some_loss: 0.05,
            down_reports: 5,
            up_reports: 5,
            backoff: 2,
        }
    }
}

impl Config {
    fn check(&self) -> Result<(), ConfigError> {
        check("openpilot rates", format_args!("low {}, medium {}, high {}", self.low, self.medium, self.high)).is(
            Rate::ZERO < self.low && self.low <= self.medium && self.medium <= self.high,
            "0 < low <= medium <= high",
        )?;
        check("openpilot.period", self.period).within(Span::from_millis(1)..=Span::from_secs(60), "1s")?;
        check("openpilot losses", format_args!("some {}, much {}", self.some_loss, self.much_loss)).is(
            0.0 < self.some_loss && self.some_loss <= self.much_loss && self.much_loss <= 1.0,
            "0 < some_loss <= much_loss <= 1",
        )?;
        for (name, count, example) in [
            ("openpilot.down_reports", self.down_reports, "5"),
            ("openpilot.up_reports", self.up_reports, "5"),
            ("openpilot.backoff", self.backoff, "2"),
        ] {
            check(name, count).within(1..=1000, example)?;
        }
        Ok(())
    }

    fn rates(&self) -> [Rate; 3] {
        [self.low, self.medium, self.high]
    }
}

/// openpilot's state.
#[derive(Debug, Clone)]
pub struct Openpilot {
    config: Config,
    limits: Limits,
    accumulator: Accumulator,
    /// Which of the three rates.
    level: usize,
    /// Reports with some loss, less reports without, since the last step.
    counter: i32,
    /// How many reports without loss step up.
    up_reports: i32,
    /// The share of losses of the last report.
    loss: f64,
    decisions: Decisions,
}

impl Openpilot {
    /// The controller before the first packet.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: Config) -> Result<Openpilot, ConfigError> {
        config.check()?;
        Ok(Openpilot {
            limits: Limits::new(config.low),
            accumulator: Accumulator::default(),
            level: config.rates().iter().rposition(|rate| *rate <= config.start).unwrap_or(0),
            counter: 0,
            up_reports: config.up_reports,
            loss: 0.0,
            decisions: Decisions::default(),
            config,
        })
    }

    fn rate(&self) -> Rate {
        self.limits.clamp(self.config.rates()[self.level])
    }

    /// A receiver report with this share of losses.
    fn on_report(&mut self, now: Time, loss: f64) {
        let Config { some_loss, much_loss, down_reports, backoff, .. } = self.config;
        self.loss = libm::trunc(loss * PARTS) / PARTS;
        if self.loss >= some_loss && self.level > 0 {
            self.counter += 1;
            if self.counter >= down_reports || self.loss >= much_loss {
                self.up_reports = self.up_reports.saturating_mul(backoff);
                let why = if self.loss >= much_loss { "much loss" } else { "some loss for long" };
                self.step(now, self.level - 1, why);
            }
        } else if self.loss <= 0.0 && self.level + 1 < self.config.rates().len() {
            self.counter -= 1;
            if -self.counter >= self.up_reports {
                self.step(now, self.level + 1, "no loss for long");
            }
        }
    }

    fn step(&mut self, at: Time, level: usize, why: &'static str) {
        let (from, what) = (self.rate(), if level > self.level { "raise" } else { "lower" });
        (self.level, self.counter) = (level, 0);
        self.decisions.push(Decision { at, what, why, from, to: self.rate() });
    }
}

impl Controller for Openpilot {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.accumulator.on_feedback(feedback);
        if self.accumulator.lasted(feedback.now).is_some_and(|span| span >= self.config.period) {
            let loss = self.accumulator.end(feedback.now).loss_ratio();
            self.on_report(feedback.now, loss);
        }
    }

    fn limits(&self) -> SendLimits {
        SendLimits::of_rate(self.rate())
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.accumulator.on_sent(packet.at);
    }

    fn on_demand(&mut self, _now: Time, demand: Demand) {
        self.limits.follow(demand);
    }

    fn poll_decision(&mut self) -> Option<Decision> {
        self.decisions.pop()
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("level", self.level as f64);
        see("counter", f64::from(self.counter));
        see("up_reports", f64::from(self.up_reports));
        see("p", self.loss);
    }
}
