//! Steps of the path's rate.
//!
//! Where the service varies from packet to packet, as in a cell, only a long average says how fast it is. A path of a
//! constant rate serves each packet alike; when a row of packets was served alike, but not as the average says, the rate has
//! changed, and the row says to what.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use thalweg_units::{Bytes, ConfigError, Span, above, check};

/// The parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// Packets in a row.
    pub packets: usize,
    /// Packets are served alike if each takes this share more or less than the middle one.
    pub within: f64,
    /// The average is another if it is this many times as long or as short.
    pub changed: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config { packets: 10, within: 0.2, changed: 1.15 }
    }
}

/// Receivers tell the time of an arrival to within this (TWCC's tick).
const TICK: Span = Span::from_micros(250);

impl Config {
    pub(super) fn check(self) -> Result<Config, ConfigError> {
        check("thalweg.steps.packets", self.packets).within(3..=100, "10")?;
        check("thalweg.steps.within", self.within).within(above(0.0), "0.2")?;
        check("thalweg.steps.changed", self.changed).within(above(1.0), "1.15")?;
        Ok(self)
    }
}

/// The last packets that measured the path.
#[derive(Debug, Clone)]
pub(super) struct Steps {
    config: Config,
    row: VecDeque<(Span, Bytes)>,
}

impl Steps {
    pub(super) fn new(config: Config) -> Steps {
        Steps { config, row: VecDeque::new() }
    }

    /// Takes a packet; returns the row if it was served alike, but not as `usual` says, the mean of a packet of `wire`
    /// bytes.
    pub(super) fn on_served(
        &mut self,
        served: Span,
        size: Bytes,
        usual: Span,
        wire: Bytes,
    ) -> Option<&VecDeque<(Span, Bytes)>> {
        let Config { packets, within, changed } = self.config;
        self.row.push_back((served, size));
        if self.row.len() > packets {
            self.row.pop_front();
        }
        if self.row.len() < packets {
            return None;
        }
        let of = |(served, size): &(Span, Bytes)| served.scale(wire.as_f64() / size.as_f64());
        let mut sorted: Vec<Span> = self.row.iter().map(of).collect();
        sorted.sort_unstable();
        let middle = sorted[packets / 2];
        let most = middle.scale(within) + TICK;
        let is_alike = middle - sorted[0] <= most && sorted[packets - 1] - middle <= most;
        let is_other = middle > usual.scale(changed) || middle.scale(changed) < usual;
        (is_alike && is_other).then_some(&self.row)
    }
}
