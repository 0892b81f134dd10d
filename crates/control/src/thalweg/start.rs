//! The first packets: a train that measures the path, short enough for a slow one.
//!
//! Packets of one frame leave together, so that a few of them say how fast the path is (packet-pair dispersion: Keshav,
//! SIGCOMM 1991; Jacobson's slow start doubles what is under way in each round trip instead). No more than a few, since
//! nothing is known yet: at 300 kbps a packet takes 33 ms. And as so few may be wrong, what is under way grows with what
//! has arrived.

use thalweg_units::{Bytes, ConfigError, Span, Time, above, check};

/// The parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// Packets that may be sent before the first is known to have arrived: at 300 kbps the last of four waits for 98 ms.
    pub packets: u64,
    /// Packets more that may be under way for each that has arrived.
    pub growth: f64,
    /// No longer a queue while it lasts than the path carries in this time.
    pub queue: Span,
    /// For so long after the first measurement hindsight says nothing of the budget: frames are larger than usual.
    pub lasts: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config { packets: 4, growth: 8.0, queue: Span::from_millis(80), lasts: Span::from_secs(1) }
    }
}

impl Config {
    pub(super) fn build(self, wire: Bytes) -> Result<Start, ConfigError> {
        check("thalweg.opening.packets", self.packets).within(2..=100, "4")?;
        check("thalweg.opening.growth", self.growth).within(1.0..=100.0, "8")?;
        check("thalweg.opening.queue", self.queue).within(above(Span::ZERO), "80ms")?;
        check("thalweg.opening.lasts", self.lasts).within(above(Span::ZERO), "1s")?;
        Ok(Start { config: self, wire, arrived: Bytes::ZERO, measured: None })
    }
}

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Start {
    config: Config,
    wire: Bytes,
    /// Wire bytes that have arrived.
    arrived: Bytes,
    /// When the path was first measured.
    measured: Option<Time>,
}

impl Start {
    /// Takes what has arrived.
    pub(super) fn on_arrived(&mut self, size: Bytes) {
        self.arrived += size;
    }

    /// The path is measured for the first time.
    pub(super) fn on_measured(&mut self, now: Time) {
        self.measured = Some(now);
    }

    /// The longest queue while it lasts.
    pub(super) fn queue(&self, now: Time) -> Option<Span> {
        self.lasts(now).then_some(self.config.queue)
    }

    /// Returns true while it lasts.
    pub(super) fn lasts(&self, now: Time) -> bool {
        self.measured.is_none_or(|measured| now - measured < self.config.lasts)
    }

    /// Wire bytes that may be under way.
    pub(super) fn most(&self) -> Bytes {
        self.wire * self.config.packets + self.arrived.scale(self.config.growth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_packets_begin_and_each_that_arrives_allows_eight_more() {
        let mut start = Config::default().build(Bytes::new(1000)).unwrap();
        assert_eq!(start.most(), Bytes::new(4000));
        start.on_arrived(Bytes::new(4000));
        assert_eq!(start.most(), Bytes::new(36_000));
        start.on_arrived(Bytes::new(36_000));
        assert_eq!(start.most(), Bytes::new(324_000), "in the third round trip");
    }

    #[test]
    fn it_lasts_for_a_second_from_the_first_measurement_on() {
        let mut start = Config::default().build(Bytes::new(1000)).unwrap();
        assert!(start.lasts(Time::from_millis(5000)), "nothing was measured");
        start.on_measured(Time::from_millis(5000));
        assert_eq!([5999, 6000].map(|at| start.lasts(Time::from_millis(at))), [true, false]);
    }
}
