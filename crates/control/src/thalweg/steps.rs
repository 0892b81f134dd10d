//! Steps of the path's rate.
//!
//! Where the service varies from packet to packet, as in a cell, only a long average says how fast it is. A path of a
//! constant rate serves each packet alike; when a row of packets was served alike, but not as the average says, the rate has
//! changed, and the row says to what. A cell serves a few packets alike too, those of one turn of it, so that a row has to
//! last.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use thalweg_units::{Bytes, ConfigError, Span, Time, above, check};

/// The parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// Packets in a row, at least.
    pub packets: usize,
    /// The time from the first of them to the last, at least.
    pub lasts: Span,
    /// Packets are served alike if each takes this share more or less than the middle one.
    pub within: f64,
    /// The average is another if it is this many times as long or as short.
    pub changed: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config { packets: 10, lasts: Span::from_millis(100), within: 0.2, changed: 1.15 }
    }
}

/// Max packets that count: 100 ms of 25 Mbps.
const REMEMBERED: usize = 1 << 8;
/// One in so many packets is left out at either end: the first of a frame may have met an empty path.
const ODD: usize = 10;
/// Receivers tell the time of an arrival to within this (TWCC's tick).
const TICK: Span = Span::from_micros(250);

impl Config {
    pub(super) fn check(self) -> Result<Config, ConfigError> {
        check("thalweg.steps.packets", self.packets).within(3..=100, "10")?;
        check("thalweg.steps.lasts", self.lasts).within(Span::ZERO.., "100ms")?;
        check("thalweg.steps.within", self.within).within(above(0.0), "0.2")?;
        check("thalweg.steps.changed", self.changed).within(above(1.0), "1.15")?;
        Ok(self)
    }
}

/// A packet that measured the path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    pub(super) at: Time,
    pub(super) served: Span,
    pub(super) size: Bytes,
}

/// The last packets that measured the path.
#[derive(Debug, Clone)]
pub(super) struct Steps {
    config: Config,
    row: VecDeque<Measured>,
}

impl Steps {
    pub(super) fn new(config: Config) -> Steps {
        Steps { config, row: VecDeque::new() }
    }

    /// Begins a new row.
    pub(super) fn forget(&mut self) {
        self.row.clear();
    }

    /// Takes a packet; returns the row if it was served alike, but not as `usual` says, the mean of a packet of `wire`
    /// bytes.
    pub(super) fn on_served(&mut self, packet: Measured, usual: Span, wire: Bytes) -> Option<&VecDeque<Measured>> {
        let Config { packets, lasts, within, changed } = self.config;
        self.row.push_back(packet);
        let is_enough = |row: &VecDeque<Measured>, from: usize| {
            row.len() >= packets + from && row.get(from).is_some_and(|first| packet.at - first.at >= lasts)
        };
        while self.row.len() > REMEMBERED || is_enough(&self.row, 1) {
            self.row.pop_front();
        }
        if !is_enough(&self.row, 0) && self.row.len() < REMEMBERED {
            return None;
        }
        let of = |packet: &Measured| packet.served.scale(wire.as_f64() / packet.size.as_f64());
        let mut sorted: Vec<Span> = self.row.iter().map(of).collect();
        sorted.sort_unstable();
        let odd = (sorted.len() - 1) / ODD;
        let (least, middle, longest) = (sorted[odd], sorted[sorted.len() / 2], sorted[sorted.len() - 1 - odd]);
        let most = middle.scale(within) + TICK;
        let is_alike = middle - least <= most && longest - middle <= most;
        let is_other = middle > usual.scale(changed) || middle.scale(changed) < usual;
        (is_alike && is_other).then_some(&self.row)
    }
}
