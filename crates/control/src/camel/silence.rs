//! Nothing heard: the target halves once per timeout (specs/camel.md 7).

use thalweg_units::{Span, Time};

use crate::feedback::{Cause, Feedback};
use crate::packet::SentPacket;

/// How long the sender waits for news (R).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// At least this long ...
    pub least: Span,
    /// ... and at least this many smoothed round trips.
    pub round_trips: i64,
    /// What the target is multiplied by after each such wait.
    pub factor: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config { least: Span::from_millis(500), round_trips: 3, factor: 0.5 }
    }
}

/// Whether anything was heard.
#[derive(Debug, Clone)]
pub(super) struct Silence {
    config: Config,
    waiting_since: Option<Time>,
    srtt: Span,
    /// The share of the target that is left.
    left: f64,
}

impl Silence {
    pub(super) fn new(config: Config) -> Silence {
        Silence { config, waiting_since: None, srtt: Span::ZERO, left: 1.0 }
    }

    /// The share of the target that is left: 1 while reports come.
    pub(super) fn left(&self) -> f64 {
        self.left
    }

    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        if packet.in_flight <= packet.size || self.waiting_since.is_none() {
            self.waiting_since = Some(packet.at);
        }
    }

    /// News, or the history's own verdict that there was none.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if feedback.cause == Cause::Silence {
            self.waiting_since = None;
            return;
        }
        self.srtt = feedback.srtt.unwrap_or(self.srtt);
        self.left = 1.0;
        self.waiting_since = (feedback.in_flight.get() > 0).then_some(feedback.now);
    }

    pub(super) fn next_timeout(&self) -> Time {
        let wait = self.config.least.max(self.srtt * self.config.round_trips);
        self.waiting_since.map_or(Time::NEVER, |since| since + wait)
    }

    /// Whether the target was lowered just now.
    pub(super) fn on_timeout(&mut self, now: Time) -> bool {
        if self.next_timeout() > now {
            return false;
        }
        self.waiting_since = Some(now);
        // So small that every target is at its minimum, and still a number that can be multiplied.
        self.left = (self.left * self.config.factor).max(1e-6);
        true
    }
}
