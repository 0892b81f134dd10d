//! Belabox's parameters.

use thalweg_units::{Bytes, ConfigError, Rate, Span, above, check};

/// Belabox's parameters, by belacoder's names in words (docs/papers/opponents.md).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The rate before the first round trip (300 kbps: the min rate).
    pub start: Rate,
    /// The min rate (300 kbps).
    pub min: Rate,
    /// How long the receiver waits for a packet, whose thirds and fifths the round trip is compared with (2 s).
    pub latency: Span,
    /// The packet in which bytes under way are counted (1316 B).
    pub packet: Bytes,
    /// The time between two looks at the path (20 ms).
    pub period: Span,
    /// The least raise (30 kbps).
    pub raise: Rate,
    /// A raise is larger by the rate over this (30).
    pub raise_divisor: u64,
    /// The least time between raises (500 ms).
    pub raise_interval: Span,
    /// The least cut (100 kbps), and all of it in light congestion.
    pub cut: Rate,
    /// In heavy congestion a cut is larger by the rate over this (10).
    pub cut_divisor: u64,
    /// The least time after a cut in light congestion, or to the min rate (200 ms).
    pub cut_interval: Span,
    /// The least time after a cut in heavy congestion (250 ms).
    pub heavy_cut_interval: Span,
    /// The encoder's rate is a multiple of this (100 kbps).
    pub step: Rate,
    /// The pacing rate as a multiple of the encoder's: SRT's overhead of 20 % (1.2).
    pub pacing_gain: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            start: Rate::from_kbps(300),
            min: Rate::from_kbps(300),
            latency: Span::from_secs(2),
            packet: Bytes::new(1316),
            period: Span::from_millis(20),
            raise: Rate::from_kbps(30),
            raise_divisor: 30,
            raise_interval: Span::from_millis(500),
            cut: Rate::from_kbps(100),
            cut_divisor: 10,
            cut_interval: Span::from_millis(200),
            heavy_cut_interval: Span::from_millis(250),
            step: Rate::from_kbps(100),
            pacing_gain: 1.2,
        }
    }
}

impl Config {
    /// Checks that every parameter is in range.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check("belabox rates", format_args!("min {}, start {}", self.min, self.start))
            .is(self.min > Rate::ZERO && self.start >= self.min, "0 < min <= start")?;
        check("belabox.latency", self.latency).within(Span::from_millis(100)..=Span::from_secs(10), "2s")?;
        check("belabox.packet", self.packet).within(above(Bytes::ZERO), "1316B")?;
        check("belabox.period", self.period).within(Span::from_millis(1)..=Span::from_secs(1), "20ms")?;
        check("belabox divisors", format_args!("{} and {}", self.raise_divisor, self.cut_divisor))
            .is(self.raise_divisor > 0 && self.cut_divisor > 0, "above 0")?;
        for (name, interval, example) in [
            ("belabox.raise_interval", self.raise_interval, "500ms"),
            ("belabox.cut_interval", self.cut_interval, "200ms"),
            ("belabox.heavy_cut_interval", self.heavy_cut_interval, "250ms"),
        ] {
            check(name, interval).within(Span::ZERO..=Span::from_secs(60), example)?;
        }
        check("belabox.step", self.step).within(above(Rate::ZERO), "100kbps")?;
        check("belabox.pacing_gain", self.pacing_gain).within(1.0..=10.0, "1.2")?;
        Ok(())
    }
}
