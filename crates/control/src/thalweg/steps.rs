//! Steps of the path's rate.
//!
//! Where the service varies from packet to packet, as in a cell, only a long average says how fast it is. A path of a
//! constant rate serves each packet alike; when a row of packets was served alike, but not as the average says, the rate has
//! changed, and the row says to what. A cell serves a few packets alike too, those of one turn of it, so that a row has to
//! last. Nor is it a step up where the path has just fallen: what rises and falls several times a second carries its average.

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
/// The time after a fall in which a rise is no step: at first, and at most. It is twice as long after each rise that lasted for
/// less than it.
const SETTLES: (Span, Span) = (Span::from_secs(1), Span::from_secs(8));

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
    /// When the path fell last, and when it rose since.
    fell: Option<Time>,
    rose: Option<Time>,
    /// The time after a fall in which a rise is no step.
    settles: Span,
}

impl Steps {
    pub(super) fn new(config: Config) -> Steps {
        Steps { config, row: VecDeque::new(), fell: None, rose: None, settles: SETTLES.0 }
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
        let (fell, rose) = (middle > usual.scale(changed), middle.scale(changed) < usual);
        (is_alike && (fell && self.on_fall(packet.at) || rose && self.on_rise(packet.at))).then_some(&self.row)
    }

    /// The path is slower.
    fn on_fall(&mut self, now: Time) -> bool {
        if let Some(rose) = self.rose.take() {
            let lasted = now - rose >= self.settles;
            self.settles = if lasted { SETTLES.0 } else { (self.settles * 2).min(SETTLES.1) };
        }
        self.fell = Some(now);
        true
    }

    /// The path is faster; returns whether that is a step.
    fn on_rise(&mut self, now: Time) -> bool {
        let is_step = self.fell.is_none_or(|fell| now - fell >= self.settles);
        if is_step {
            self.rose = Some(now);
        }
        is_step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When a path of these services of a packet, in ms, each for so many ms, has stepped, and to what; the average is the last
    /// step's.
    fn steps(services: &[(i64, u64)]) -> alloc::vec::Vec<(u64, i64)> {
        let (mut steps, mut usual, mut now) = (Steps::new(Config::default()), services[0].0, 0);
        let mut found = alloc::vec::Vec::new();
        for (service, lasts) in services {
            let end = now + lasts;
            while now < end {
                now += *service as u64;
                let served = Span::from_millis(*service);
                let packet = Measured { at: Time::from_millis(now), served, size: Bytes::new(1200) };
                if steps.on_served(packet, Span::from_millis(usual), Bytes::new(1200)).is_some() {
                    steps.forget();
                    usual = *service;
                    found.push((now, usual));
                }
            }
        }
        found
    }

    #[test]
    fn a_path_that_falls_and_comes_back_after_a_second_has_stepped_twice() {
        let found = steps(&[(4, 2000), (20, 1500), (4, 1000)]);
        assert_eq!(found.iter().map(|(_, service)| *service).collect::<Vec<_>>(), [20, 4]);
        assert!((2180..=2240).contains(&found[0].0) && (3560..=3640).contains(&found[1].0), "{found:?}");
    }

    #[test]
    fn a_path_that_rises_right_after_it_fell_has_not_stepped_up_and_is_waited_for_longer_each_time_it_falls_again() {
        let found = steps(&[(4, 2000), (20, 500), (4, 1300), (20, 500), (4, 1500), (20, 300), (4, 5000)]);
        // The rise of 2.5 s becomes a step 1 s after the fall, at about 3.2 s; it lasts for 0.8 s, so the next waits for 2 s
        // after the fall of 4.0 s, when the path has fallen again; and the last for 2 s after that of 6 s.
        let rises: Vec<u64> = found.iter().filter(|(_, service)| *service == 4).map(|(at, _)| *at).collect();
        assert_eq!(rises.len(), 2, "{found:?}");
        assert!((3150..=3250).contains(&rises[0]) && (6000..=8300).contains(&rises[1]), "{found:?}");
    }
}
