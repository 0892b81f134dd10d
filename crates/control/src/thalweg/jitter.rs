//! How much the delay of an empty path varies by itself.
//!
//! A queue grows and shrinks from frame to frame by what is sent and served in between; what delays one frame and not
//! the next is no queue. So the changes of delay between the first packets of frames that follow each other tell the jitter:
//! half of them are above 0.29 of the greatest delay where it is uniform (1 - sqrt(1/2)). Delays that do not follow from those
//! before have a mean square change of twice their variance (von Neumann, Annals of Mathematical Statistics 12, 1941); in a
//! queue, and in a cell that serves by fits and starts, delays resemble those before.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use thalweg_units::{ConfigError, Span, Time, above, check};

use super::JITTER;
use crate::packet::PacketId;

/// The parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The frames of this time count.
    pub window: Span,
    /// Less jitter than this is none: paths that serve in turns have as much.
    pub least: Span,
    /// No more jitter is allowed for.
    pub most: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config { window: Span::from_secs(6), least: Span::from_millis(10), most: Span::from_millis(100) }
    }
}

/// Max frames that count, at any frame rate.
const FRAMES: usize = 192;
/// No jitter is known from fewer.
const LEAST_FRAMES: usize = 16;
/// In this many frames in a row a queue would have drained once in the window.
const QUIET: usize = 8;
/// The jitter for each unit of the least median of so many: where it is uniform that is about a quarter of the greatest.
const OF_QUIET: f64 = 3.0;
/// The weight of a packet in the share of those overtaken, and from which share on the path is known to reorder.
const OVERTAKEN_GAIN: f64 = 1.0 / 128.0;
const MANY: f64 = 0.02;
/// The jitter for each unit of the median change.
const OF_MEDIAN: f64 = 3.4;
/// The least mean square change in variances; the second while jitter is known.
const OF_VARIANCE: (f64, f64) = (0.4, 0.25);
/// How much of it is allowed for: the changes of a queue of our own are among those counted.
const ALLOWED: f64 = 0.7;

impl Config {
    pub(super) fn build(self) -> Result<Jitter, ConfigError> {
        check("thalweg.jitter.window", self.window).within(above(Span::ZERO), "6s")?;
        check("thalweg.jitter", format_args!("least {}, most {}", self.least, self.most))
            .is(Span::ZERO <= self.least && self.least <= self.most, "0 <= least <= most")?;
        Ok(Jitter {
            config: self,
            delays: VecDeque::new(),
            medians: VecDeque::new(),
            newest: None,
            overtaken: 0.0,
            allowed: Span::ZERO,
        })
    }
}

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Jitter {
    config: Config,
    /// Those of frames' first packets, and when they arrived.
    delays: VecDeque<(Time, Span)>,
    /// The median of as many as [`QUIET`] of them, at the last's arrival.
    medians: VecDeque<(Time, Span)>,
    newest: Option<PacketId>,
    /// The share of packets that a later one overtook.
    overtaken: f64,
    allowed: Span,
}

impl Jitter {
    /// The delay above the least that says nothing of a queue.
    pub(super) fn get(&self) -> Span {
        self.allowed
    }

    /// Returns true if packets overtake one another on the path, which they do in no queue.
    pub(super) fn reorders(&self) -> bool {
        self.overtaken > MANY
    }

    /// Takes an arrival, in the order of arrivals.
    pub(super) fn on_arrival(&mut self, id: PacketId) {
        let is_overtaken = self.newest.is_some_and(|newest| id < newest);
        self.newest = self.newest.max(Some(id));
        self.overtaken += OVERTAKEN_GAIN * (f64::from(u8::from(is_overtaken)) - self.overtaken);
    }

    /// Takes the delay of a frame's first packet; one packet takes the path `service`.
    pub(super) fn on_first(&mut self, at: Time, delay: Span, service: Span) {
        self.delays.push_back((at, delay));
        let is_old = |(began, _): &(Time, Span)| *began + self.config.window <= at;
        while self.delays.len() > FRAMES || self.delays.front().is_some_and(is_old) {
            self.delays.pop_front();
        }
        if self.delays.len() >= QUIET {
            let mut last: Vec<Span> = self.delays.iter().rev().take(QUIET).map(|(_, delay)| *delay).collect();
            last.sort_unstable();
            self.medians.push_back((at, last[QUIET / 2]));
        }
        while self.medians.len() > FRAMES || self.medians.front().is_some_and(is_old) {
            self.medians.pop_front();
        }
        let after = self.delays.iter().skip(1);
        let mut changes: Vec<Span> =
            self.delays.iter().zip(after).map(|((_, before), (_, delay))| (*delay - *before).abs()).collect();
        let share = if self.allowed > Span::ZERO { OF_VARIANCE.1 } else { OF_VARIANCE.0 };
        if changes.len() < LEAST_FRAMES || mean_square(&changes) < self.variance() * share {
            self.allowed = Span::ZERO;
            return;
        }
        changes.sort_unstable();
        let median = changes[changes.len() / 2];
        // A path that serves in turns, or a packet in that time, changes its delay by as much; but neither lets packets
        // overtake.
        let explained = if self.reorders() { JITTER } else { self.config.least.max(service * 2) };
        let least = self.delays.iter().map(|(_, delay)| *delay).min().unwrap_or_default();
        let quiet = self.medians.iter().map(|(_, median)| *median).min().unwrap_or(least) - least;
        let jitter = median.scale(OF_MEDIAN).min(quiet.scale(OF_QUIET));
        self.allowed = if jitter < explained { Span::ZERO } else { jitter.scale(ALLOWED).min(self.config.most) };
    }

    /// The variance of the delays, in square seconds.
    fn variance(&self) -> f64 {
        let count = self.delays.len() as f64;
        let mean = self.delays.iter().map(|(_, delay)| delay.as_secs_f64()).sum::<f64>() / count;
        let square = |(_, delay): &(Time, Span)| (delay.as_secs_f64() - mean) * (delay.as_secs_f64() - mean);
        self.delays.iter().map(square).sum::<f64>() / count
    }
}

/// In square seconds.
fn mean_square(changes: &[Span]) -> f64 {
    changes.iter().map(|change| change.as_secs_f64() * change.as_secs_f64()).sum::<f64>() / changes.len() as f64
}
