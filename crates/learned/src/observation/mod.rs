//! Observations of a policy: numbers computed from the packets that a sender sent and the reports on them.

mod mmsys150;
mod mowgli;
mod raw;

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;

use thalweg_control::{Feedback, SentPacket};
use thalweg_units::{ConfigError, Time};

use crate::{Collector, Interval, Setting, named};

/// The kind of a policy's input. In each, the number of feature `f` (from 0) at place `i` has the index `f x n + i`, with
/// `n` places and place 0 the newest; what did not happen yet is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Observation {
    /// Observation of the MMSys'24 challenge: 15 features of 5 short and 5 long intervals.
    #[default]
    Mmsys150,
    /// Observation after Mowgli: 9 features of 20 intervals.
    Mowgli,
    /// 9 features of the last 32 reports.
    Raw,
}

impl Observation {
    /// All kinds.
    pub const ALL: [Observation; 3] = [Observation::Mmsys150, Observation::Mowgli, Observation::Raw];

    /// The name: `mmsys150`, `mowgli` or `raw`.
    pub const fn name(self) -> &'static str {
        match self {
            Observation::Mmsys150 => "mmsys150",
            Observation::Mowgli => "mowgli",
            Observation::Raw => "raw",
        }
    }

    /// How many numbers it has.
    pub const fn len(self) -> usize {
        self.features().len() * self.places()
    }

    /// Never: it has numbers.
    pub const fn is_empty(self) -> bool {
        false
    }

    /// Its features in order, each with its unit.
    pub const fn features(self) -> &'static [&'static str] {
        match self {
            Observation::Mmsys150 => &mmsys150::FEATURES,
            Observation::Mowgli => &mowgli::FEATURES,
            Observation::Raw => &raw::FEATURES,
        }
    }

    /// How many places each feature has.
    pub const fn places(self) -> usize {
        match self {
            Observation::Mmsys150 => mmsys150::PLACES,
            Observation::Mowgli => mowgli::PLACES,
            Observation::Raw => raw::PLACES,
        }
    }

    /// How many past intervals it needs.
    const fn intervals(self) -> usize {
        match self {
            Observation::Mmsys150 => mmsys150::INTERVALS,
            Observation::Mowgli => mowgli::PLACES,
            Observation::Raw => 1,
        }
    }
}

impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Observation {
    type Err = ConfigError;

    fn from_str(name: &str) -> Result<Observation, ConfigError> {
        named::parse("observation", &Observation::ALL, name)
    }
}

/// Computes an observation as its sender goes on.
#[derive(Debug, Clone)]
pub struct Observer {
    observation: Observation,
    collector: Collector,
    /// Past intervals, the newest first.
    intervals: VecDeque<Interval>,
    reports: raw::Reports,
}

impl Observer {
    /// Starts with a sender of this setting.
    pub fn new(observation: Observation, setting: Setting) -> Observer {
        let (collector, intervals) = (Collector::new(setting), VecDeque::with_capacity(observation.intervals() + 1));
        Observer { observation, collector, intervals, reports: raw::Reports::new() }
    }

    /// The kind.
    pub fn observation(&self) -> Observation {
        self.observation
    }

    /// The first interval begins now.
    pub fn begin(&mut self, now: Time) {
        self.collector.begin(now);
        self.reports.begin(now);
    }

    /// A packet left.
    pub fn on_sent(&mut self, packet: &SentPacket) {
        self.collector.on_sent(packet);
        self.reports.on_sent(packet);
    }

    /// Feedback arrived.
    pub fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.collector.on_feedback(feedback);
        if self.observation == Observation::Raw {
            self.reports.on_feedback(feedback, &self.collector);
        }
    }

    /// The sender is set to this from now on.
    pub fn set(&mut self, setting: Setting) {
        self.collector.set(setting);
    }

    /// An interval ends and the next begins. Returns the one that ended.
    pub fn close(&mut self, now: Time) -> Interval {
        let closed = self.collector.close(now);
        self.intervals.truncate(self.observation.intervals() - 1);
        self.intervals.push_front(closed);
        closed
    }

    /// Writes the observation at `now`, the end of the last interval, into `to`.
    ///
    /// # Panics
    /// If `to` does not have [`Observation::len`] numbers.
    pub fn write(&self, now: Time, to: &mut [f32]) {
        assert_eq!(to.len(), self.observation.len(), "numbers of an observation {}", self.observation);
        to.fill(0.0);
        match self.observation {
            Observation::Mmsys150 => mmsys150::write(&self.intervals, to),
            Observation::Mowgli => mowgli::write(&self.intervals, to),
            Observation::Raw => self.reports.write(now, to),
        }
    }
}

/// Writes a feature at a place.
fn put(to: &mut [f32], places: usize, (feature, place): (usize, usize), value: f64) {
    to[feature * places + place] = value as f32;
}
