//! TFRC's parameters.

use thalweg_units::{ConfigError, Rate, Span, check};

/// TFRC's parameters, by RFC 5348's symbols (specs/tfrc.md).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// X before the first report (ours: 128 kbps, the start rate of all schemes in FBRA's paper; the RFC's one packet a
    /// second is too little for video).
    pub start: Rate,
    /// The min rate (32 kbps, FBRA's paper; the RFC's own is a packet in 64 s).
    pub min: Rate,
    /// The weight that R keeps when a sample is added (q: 0.9).
    pub rtt_memory: f64,
    /// b: packets that one acknowledgement of TCP's covers (1).
    pub per_acknowledgement: f64,
    /// t_RTO in round trips (4).
    pub timeout: f64,
    /// An interval in which less than this share of the allowed bytes was sent is data-limited (ours: 0.8; the RFC
    /// compares sending times, but a frame source is always between two frames).
    pub data_limited_below: f64,
    /// The factor applied to X_recv of a data-limited interval with a loss (0.85).
    pub limited_loss_factor: f64,
    /// The no-feedback timeout before the first feedback (2 s), after which the rate falls; later it is the longer of 4
    /// R and 2 s / X.
    pub initial_timeout: Span,
    /// Sends packets at X sqrt(R) mean / sqrt(R): oscillation prevention (section 4.5, optional; off).
    pub damped: bool,
    /// The pacing rate as a multiple of X (ours: 1.1, so that the pacer can empty its queue after a large frame; the
    /// RFC: 1).
    pub pacing_gain: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            start: Rate::from_kbps(128),
            min: Rate::from_kbps(32),
            rtt_memory: 0.9,
            per_acknowledgement: 1.0,
            timeout: 4.0,
            data_limited_below: 0.8,
            limited_loss_factor: 0.85,
            initial_timeout: Span::from_secs(2),
            damped: false,
            pacing_gain: 1.1,
        }
    }
}

impl Config {
    /// Checks that every parameter is in range.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check("tfrc rates", format_args!("min {}, start {}", self.min, self.start))
            .is(self.min != Rate::ZERO && self.start >= self.min, "0 < min <= start")?;
        for (name, value, range, example) in [
            ("tfrc.rtt_memory", self.rtt_memory, (0.0, 0.999), "0.9"),
            ("tfrc.per_acknowledgement", self.per_acknowledgement, (1.0, 16.0), "1"),
            ("tfrc.timeout", self.timeout, (1.0, 100.0), "4"),
            ("tfrc.data_limited_below", self.data_limited_below, (0.0, 1.0), "0.8"),
            ("tfrc.limited_loss_factor", self.limited_loss_factor, (0.01, 1.0), "0.85"),
            ("tfrc.pacing_gain", self.pacing_gain, (1.0, 10.0), "1.1"),
        ] {
            check(name, value).within(range.0..=range.1, example)?;
        }
        check("tfrc.initial_timeout", self.initial_timeout).within(Span::from_millis(1).., "2s")?;
        Ok(())
    }
}
