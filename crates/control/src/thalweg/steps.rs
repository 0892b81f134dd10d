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
/// The time since the path fell from the last rise in which another is no step: at first, and at most. It is twice as long
/// after each rise that lasted for less than it.
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
    rise: Option<Rise>,
    /// The time since the path fell in which a rise is no step.
    settles: Span,
}

/// The last step up.
#[derive(Debug, Clone, Copy)]
struct Rise {
    at: Time,
    /// How long a packet was served.
    served: Span,
    /// When the average was still as fast, or the path stepped down.
    until: Time,
    /// True once it is known whether it lasted.
    is_judged: bool,
}

impl Steps {
    pub(super) fn new(config: Config) -> Steps {
        Steps { config, row: VecDeque::new(), rise: None, settles: SETTLES.0 }
    }

    /// Begins a new row.
    pub(super) fn forget(&mut self) {
        self.row.clear();
    }

    /// Takes a packet; returns the row if it was served alike, but not as `usual` says, the mean of a packet of `wire`
    /// bytes.
    pub(super) fn on_served(&mut self, packet: Measured, usual: Span, wire: Bytes) -> Option<&VecDeque<Measured>> {
        let Config { packets, lasts, within, changed } = self.config;
        if let Some(rise) = self.rise.as_mut().filter(|rise| usual <= rise.served.scale(changed)) {
            rise.until = packet.at;
        }
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
        if let Some(rise) = self.rise.as_mut().filter(|_| is_alike && fell) {
            rise.until = packet.at;
        }
        (is_alike && (fell || rose && self.on_rise(packet.at, middle, usual))).then_some(&self.row)
    }

    /// The path serves a packet in `middle` instead of `usual`; returns whether that is a step.
    fn on_rise(&mut self, now: Time, middle: Span, usual: Span) -> bool {
        let mut at = now;
        if let Some(rise) = &mut self.rise {
            if usual <= rise.served.scale(self.config.changed) {
                at = rise.at;
            } else {
                if !rise.is_judged {
                    let lasted = rise.until - rise.at >= self.settles;
                    self.settles = if lasted { SETTLES.0 } else { (self.settles * 2).min(SETTLES.1) };
                    rise.is_judged = true;
                }
                if now - rise.until < self.settles {
                    return false;
                }
            }
        }
        self.rise = Some(Rise { at, served: middle, until: now, is_judged: false });
        true
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
    fn a_path_that_falls_and_comes_back_after_a_second_has_stepped_each_time() {
        let found = steps(&[(20, 2000), (4, 2000), (20, 1500), (4, 1000)]);
        assert_eq!(found.iter().map(|(_, service)| *service).collect::<Vec<_>>(), [4, 20, 4]);
        assert!((2080..=2140).contains(&found[0].0) && (5560..=5640).contains(&found[2].0), "{found:?}");
    }

    #[test]
    fn a_path_that_rises_again_right_after_it_fell_has_not_stepped_up_and_is_waited_for_longer_each_time() {
        let turns: alloc::vec::Vec<(i64, u64)> = core::iter::once((20, 1000))
            .chain((0..60).map(|turn| if turn % 2 == 0 { (4, 300) } else { (20, 300) }))
            .collect();
        let rises: alloc::vec::Vec<u64> =
            steps(&turns).into_iter().filter(|(_, service)| *service == 4).map(|(at, _)| at).collect();
        // In 18 s of a rise each 600 ms.
        assert_eq!(rises.len(), 4, "{rises:?}");
        assert!(rises.windows(3).all(|three| three[2] - three[1] > three[1] - three[0]), "{rises:?}");
    }
}
