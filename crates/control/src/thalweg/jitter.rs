//! How much the delay of an empty path varies by itself.
//!
//! A queue grows and shrinks from frame to frame by what is sent and served in between; what delays one frame and not
//! the next is no queue. So the changes of delay between the first packets of frames that follow each other tell the jitter:
//! half of them are above 0.29 of the greatest delay where it is uniform (1 - sqrt(1/2)).

use thalweg_units::{ConfigError, Span, Time, above, check};

use crate::estimate::Percentiles;
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
        Config { window: Span::from_secs(3), least: Span::from_millis(20), most: Span::from_millis(100) }
    }
}

/// Max frames that count, at any frame rate.
const FRAMES: usize = 64;
/// No jitter is known from fewer.
const LEAST_FRAMES: usize = 16;
/// The weight of a packet in the share of those overtaken, and from which share on the path is known to reorder.
const OVERTAKEN_GAIN: f64 = 1.0 / 128.0;
const MANY: f64 = 0.05;
/// The jitter for each unit of the median change.
const OF_MEDIAN: f64 = 3.4;
/// The least median change as a share of the spread of delays, from their tenth to their ninetieth percentile: what varies
/// from frame to frame changes by 0.37 of it, a queue that comes and goes by far less. The second while jitter is known.
const OF_SPREAD: (f64, f64) = (0.25, 0.15);
/// How much of it is allowed for: the changes of a queue of our own are among those counted.
const ALLOWED: f64 = 0.7;

impl Config {
    pub(super) fn build(self) -> Result<Jitter, ConfigError> {
        check("thalweg.jitter.window", self.window).within(above(Span::ZERO), "3s")?;
        check("thalweg.jitter", format_args!("least {}, most {}", self.least, self.most))
            .is(Span::ZERO <= self.least && self.least <= self.most, "0 <= least <= most")?;
        Ok(Jitter {
            config: self,
            changes: Percentiles::new(self.window, FRAMES),
            delays: Percentiles::new(self.window, FRAMES),
            last: None,
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
    changes: Percentiles,
    delays: Percentiles,
    /// The delay of the last frame's first packet.
    last: Option<Span>,
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

    /// Takes an arrival, in the order of arrivals.
    pub(super) fn on_arrival(&mut self, id: PacketId) {
        let is_overtaken = self.newest.is_some_and(|newest| id < newest);
        self.newest = self.newest.max(Some(id));
        self.overtaken += OVERTAKEN_GAIN * (f64::from(u8::from(is_overtaken)) - self.overtaken);
    }

    /// Takes the delay of a frame's first packet; one packet takes the path `service`.
    pub(super) fn on_first(&mut self, at: Time, delay: Span, service: Span) {
        if let Some(last) = self.last.replace(delay) {
            self.changes.add(at, (delay - last).abs());
        }
        self.delays.add(at, delay);
        let median = self.changes.get(0.5).filter(|_| self.changes.len() >= LEAST_FRAMES).unwrap_or_default();
        let spread = self.delays.get(0.9).zip(self.delays.get(0.1)).map_or(Span::ZERO, |(high, low)| high - low);
        let share = if self.allowed > Span::ZERO { OF_SPREAD.1 } else { OF_SPREAD.0 };
        if median < spread.scale(share) {
            self.allowed = Span::ZERO;
            return;
        }
        // A path that serves a packet in that time changes its delay by as much; but no queue lets packets overtake.
        let served = if self.overtaken > MANY { Span::ZERO } else { service * 4 };
        let jitter = median.scale(OF_MEDIAN);
        let is_less = jitter < self.config.least.max(served);
        self.allowed = if is_less { Span::ZERO } else { jitter.scale(ALLOWED).min(self.config.most) };
    }
}
