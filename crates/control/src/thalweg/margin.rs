//! The share of the budget to use, chosen by hindsight.
//!
//! A fixed budget is too large for a path that fades and too small for a steady one: no single setting is best on
//! every link. What waits on the path is proportional to what was allowed to be under way, so each frame of the last
//! seconds says how late it would have been with another share; the share is chosen that would have served them best.
//! Vidaptive chooses its encoder's headroom so (specs/vidaptive.md 7), by the time that frames wait in the sender,
//! which is the same where nothing waits behind it.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use thalweg_units::{ConfigError, Span, Time, above, between, check};

use crate::feedback::Feedback;
use crate::packet::{Payload, SentPacket};

/// The parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// How long a frame counts.
    pub window: Span,
    /// A frame is in time if it waits no longer than this on the path.
    pub bound: Span,
    /// The weight of frames in time against the share itself, 0..1.
    pub weight: f64,
    /// The least share.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// The share at the beginning and after a fade, for `cautious`.
    pub initial: f64,
    /// How long the path must have served again after a fade until hindsight counts.
    pub cautious: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            window: Span::from_secs(10),
            bound: Span::from_millis(100),
            weight: 0.7,
            min: 0.25,
            max: 1.5,
            initial: 0.7,
            cautious: Span::from_millis(500),
        }
    }
}

impl Config {
    pub(super) fn build(self) -> Result<Margin, ConfigError> {
        for (name, value) in [("margin.window", self.window), ("margin.bound", self.bound)] {
            check(name, value).within(above(Span::ZERO), "the default")?;
        }
        check("margin.weight", self.weight).within(between(0.0, 1.0), "0.7")?;
        check("margin", format_args!("min {}, initial {}, max {}", self.min, self.initial, self.max)).is(
            self.min > 0.0 && self.min <= self.initial && self.initial <= self.max && self.max.is_finite(),
            "0 < min <= initial <= max",
        )?;
        check("margin.cautious", self.cautious).within(Span::ZERO.., "500ms")?;
        Ok(Margin {
            config: self,
            best: self.initial,
            cautious_until: Time::ZERO,
            under_way: VecDeque::new(),
            samples: VecDeque::new(),
            ranked: Vec::new(),
        })
    }
}

/// Max frames under way that are remembered: half a minute at sixty a second.
const REMEMBERED: usize = 1 << 11;

/// A frame of which packets are under way.
#[derive(Debug, Clone, Copy)]
struct UnderWay {
    frame: u64,
    began: Time,
    /// The share in force.
    share: f64,
}

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Margin {
    config: Config,
    best: f64,
    cautious_until: Time,
    under_way: VecDeque<UnderWay>,
    /// When a frame arrived, and how long it would have waited with a share of 1, in seconds.
    samples: VecDeque<(Time, f64)>,
    ranked: Vec<f64>,
}

impl Margin {
    /// The share in force.
    pub(super) fn share(&self, now: Time) -> f64 {
        if now < self.cautious_until { self.best.min(self.config.initial) } else { self.best }
    }

    /// Nothing arrives: be cautious again once something does.
    pub(super) fn on_fade(&mut self, now: Time) {
        self.cautious_until = now + self.config.cautious;
    }

    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        let Some(place) = packet.place.filter(|place| packet.payload == Payload::Media && place.first) else { return };
        if self.under_way.len() == REMEMBERED {
            self.under_way.pop_front();
        }
        self.under_way.push_back(UnderWay { frame: place.frame, began: packet.at, share: self.share(packet.at) });
    }

    /// Takes the frames whose last packet has arrived; `empty` is the delay of the empty path, by two clocks.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>, empty: Span) {
        let before = self.samples.len();
        for report in feedback.reports {
            let (Some(place), Some(at)) = (report.packet.place.filter(|place| place.last), report.arrival()) else {
                continue;
            };
            while let Some(frame) = self.under_way.front().copied().filter(|oldest| oldest.frame <= place.frame) {
                self.under_way.pop_front();
                if frame.frame == place.frame {
                    let waited = (at - frame.began - empty).max(Span::ZERO);
                    if self.samples.is_empty() {
                        // At the beginning, and after a pause longer than the window.
                        self.cautious_until = self.cautious_until.max(feedback.now + self.config.cautious);
                    }
                    self.samples.push_back((feedback.now, waited.as_secs_f64() / frame.share));
                }
            }
        }
        while self.samples.front().is_some_and(|(at, _)| *at + self.config.window <= feedback.now) {
            self.samples.pop_front();
        }
        if self.samples.len() != before {
            self.best = self.best();
        }
    }

    /// The share with the greatest score. Between two samples' own shares the number of frames in time does not change,
    /// so only the largest share that still has each frame in time counts.
    fn best(&mut self) -> f64 {
        let Config { bound, weight, min, max, initial, .. } = self.config;
        self.ranked.clear();
        self.ranked.extend(self.samples.iter().map(|(_, wait)| *wait));
        self.ranked.sort_by(f64::total_cmp);
        let count = self.ranked.len() as f64;
        if self.ranked.is_empty() {
            return initial;
        }
        let bound = bound.as_secs_f64();
        let score = |in_time: usize, share: f64| weight * in_time as f64 / count + (1.0 - weight) * share / max;
        let in_time = |share: f64| self.ranked.partition_point(|wait| share * wait <= bound);
        let mut best = (max, score(in_time(max), max));
        for (index, wait) in self.ranked.iter().enumerate().rev() {
            let share = bound / wait.max(1e-9);
            if share < max && share > min && score(index + 1, share) > best.1 {
                best = (share, score(index + 1, share));
            }
        }
        if score(in_time(min), min) > best.1 { min } else { best.0 }
    }
}
