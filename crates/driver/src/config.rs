//! Configuration of a controller in a foreign program.

use alloc::format;

use thalweg_sender::scheme::RateLimits;
use thalweg_units::{Bytes, ConfigError, Rate, check};

use crate::sizes::{RTP_OVERHEAD, Sizes};

/// Rates, sizes, and how far the foreign program can follow. Rates are as the foreign program counts them, without
/// `overhead`. Make one with [`Config::new`] and set what differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// The target before the first report.
    pub start: Rate,
    /// The min target.
    pub min: Rate,
    /// The max target.
    pub max: Rate,
    /// Bytes that the wire adds to each packet's size as the foreign program counts it, 0 to 1000:
    /// `thalweg_wire::overhead` has the parts.
    pub overhead: Bytes,
    /// Probe the path by raising the target: for a program that has no packets for probes, but sends as much as the target says
    /// within a report interval. Only in the joined mode; elsewhere a packet says which probe it belongs to.
    pub raises_target: bool,
}

impl Default for Config {
    /// 300 kbps as WebRTC begins (specs/gcc.md), between 30 kbps and 12 Mbps; RTP over UDP and IPv4.
    fn default() -> Config {
        Config::new(Rate::from_kbps(300), Rate::from_kbps(30), Rate::from_kbps(12_000))
    }
}

impl Config {
    /// Targets that begin at `start` and stay between `min` and `max`, of RTP over UDP and IPv4.
    pub const fn new(start: Rate, min: Rate, max: Rate) -> Config {
        Config { start, min, max, overhead: RTP_OVERHEAD, raises_target: false }
    }

    /// The same for packets to which the wire adds this.
    pub const fn with_overhead(self, overhead: Bytes) -> Config {
        Config { overhead, ..self }
    }

    /// Checks that the rates are in order and the overhead in range.
    ///
    /// # Errors
    /// When they are not.
    pub fn check(&self) -> Result<(), ConfigError> {
        let Config { start, min, max, .. } = self;
        check("target", format_args!("min {min}, start {start}, max {max}"))
            .is(Rate::ZERO < *min && min <= start && start <= max && *max < Rate::MAX, "0 < min <= start <= max")?;
        check("overhead", self.overhead).within(Bytes::ZERO..=Bytes::new(1000), &format!("{}", RTP_OVERHEAD))
    }

    /// The same rates on the wire.
    pub(crate) fn limits(&self) -> RateLimits {
        let sizes = Sizes::new(self.overhead);
        let [min, start, max] = [self.min, self.start, self.max].map(|rate| sizes.wire(rate));
        RateLimits { min, start, max, wire: max }
    }
}
