//! Copa's parameters.

use thalweg_units::{ConfigError, Span, above_to, between, check};

use super::Turning;

/// Copa's parameters; where sources disagree, specs/copa.md 3 has the table.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// delta: the target is 1 / delta packets in the queue (0.5 alone; 0.9 in Vidaptive).
    pub delta: f64,
    /// Window over which RTT_min is taken (paper, mvfst: 10 s).
    pub rtt_min_window: Span,
    /// RTT_standing is the min RTT over the last srtt times this (paper: a half).
    pub standing_share: f64,
    /// The window before feedback, in packets (genericCC, mvfst: 10).
    pub initial_window: f64,
    /// The min window, in packets (genericCC, mvfst: 2).
    pub min_window: f64,
    /// Velocity doubles after this many round trips in one direction (paper: 3; mvfst: 4 where, as here, the standing
    /// RTT is compared, which shows a rising queue half an srtt late).
    pub velocity_after: u32,
    /// How the velocity reacts when the window changes direction.
    pub turning: Turning,
    /// Pacing is this many times window / RTT_standing (paper: 2).
    pub pacing_gain: f64,
    /// The srtt assumed before the first sample.
    pub srtt_before_samples: Span,
    /// When the window counts as limiting the sender (specs/copa.md 7).
    pub limited_by: LimitedBy,
    /// The window is at most this many srtts at the application's maximum rate (specs/copa.md 7).
    pub max_rate_windows: f64,
    /// A loss share above this shrinks the window (genericCC: 0.3) ...
    pub loss_share: f64,
    /// ... to this share of its size (genericCC: 0.7) ...
    pub loss_factor: f64,
    /// ... once the outcome of this many packets is known, over at least two round trips (genericCC: 20).
    pub loss_packets: u32,
}

/// When the window counts as limiting the sender.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum LimitedBy {
    /// After a send within the last srtt, less than two packets fitted into the window.
    Room,
    /// After a send within the last srtt, at least this share of the window was in flight, or no further packet fitted:
    /// for senders paced at window / srtt, whose bytes in flight stay just below the window (Vidaptive: 0.75).
    Share(f64),
}

impl Default for Config {
    fn default() -> Config {
        Config {
            delta: 0.5,
            rtt_min_window: Span::from_secs(10),
            standing_share: 0.5,
            initial_window: 10.0,
            min_window: 2.0,
            velocity_after: 4,
            turning: Turning::default(),
            pacing_gain: 2.0,
            srtt_before_samples: Span::from_millis(100),
            limited_by: LimitedBy::Share(0.75),
            max_rate_windows: 2.0,
            loss_share: 0.3,
            loss_factor: 0.7,
            loss_packets: 20,
        }
    }
}

impl Config {
    /// Checks that every parameter is in range.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check("copa.delta", self.delta).within(above_to(0.0, 10.0), "0.5")?;
        check("copa windows", format_args!("min {}, initial {}", self.min_window, self.initial_window)).is(
            self.min_window >= 1.0 && self.initial_window >= self.min_window && self.initial_window <= 1e4,
            "1 <= min_window <= initial_window <= 10000",
        )?;
        for (name, value) in [
            ("copa.standing_share", self.standing_share),
            ("copa.pacing_gain", self.pacing_gain),
            ("copa.max_rate_windows", self.max_rate_windows),
            ("copa.loss_factor", self.loss_factor),
        ] {
            check(name, value).within(between(0.0, f64::INFINITY), "the default")?;
        }
        Ok(())
    }
}
