//! Pudica's parameters.

use thalweg_units::{Bytes, ConfigError, Rate, Span, check};

/// The parameters. I1 and I2 are the public reimplementations named so in specs/pudica.md, "reading" is a choice made
/// there (R); "ours" is none of these.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// L, if known. `None` uses the time to the next frame or, before that frame has left, the usual interval
    /// (reading).
    #[cfg_attr(feature = "serde", serde(default))]
    pub frame_interval: Option<Span>,
    /// gamma_p: a frame leaves at gamma_p / R times B (I1, I2: 1.25) ...
    pub pacing_gain: f64,
    /// ... and at no more than this multiple of B (I2: 10), nor less than gamma_p (reading).
    pub max_pacing: f64,
    /// alpha: up to this smoothed utilisation, the rate is multiplied; above it, it drifts (I1, I2: 0.85).
    pub threshold: f64,
    /// gamma_MI (I1, I2: 0.3).
    pub multiplicative: f64,
    /// The max factor of one multiplication (reading: 1.5).
    pub max_multiplied: f64,
    /// gamma_MD (I1, I2: 0.05).
    pub drift: f64,
    /// One drift changes B by at most this share of B (reading: 0.05; I1 has 1 Mbps down, I2 0.1 both ways).
    pub max_drift: f64,
    /// tau, in seconds, grows up to this and then restarts (I1: 5 s).
    pub period: Span,
    /// zeta: the share by which the next frame is smaller after one with R > 1 (I1, I2: 0.15).
    pub fallback: f64,
    /// This many frames with R > 1 in a row begin a drain (I1, I2: 3).
    pub drain_frames: u32,
    /// The time in which bytes in flight are to be drained (I1, I2: 200 ms).
    pub drain_horizon: Span,
    /// Which part of the bytes in flight is drained.
    pub drained: Drained,
    /// When the rate of a drain is computed.
    pub drain_rate: DrainRate,
    /// A frame with packets missing after this many intervals is late (I1: 2), ...
    pub late_intervals: f64,
    /// ... after waiting a smoothed round trip, the time that feedback needs (ours; I1 runs on paths shorter than a
    /// frame interval).
    pub late_after_round_trip: bool,
    /// The window of the smoothed utilisation (I1, I2: 200 ms).
    pub history: Span,
    /// The rate to which a frame's utilisation belongs.
    pub rate_of_frame: RateOfFrame,
    /// The max factor by which the utilisation of a frame below its rate is scaled to a full frame (ours: 10).
    pub max_rectified: f64,
    /// D_min is the min delay over this window (I2: 10 s).
    pub delay_window: Span,
    /// If a delay exceeds the one before it by more than this, the receiver's clock was set or the receiver lies, and
    /// D_min restarts (ours: 5 s; otherwise the queue would seem as long as the clock step until the window has
    /// passed).
    pub clock_step: Span,
    /// When no frame has left for this long, the retransmissions of one interval count as a frame (ours: 200 ms; at a
    /// low rate, retransmissions can use the whole rate, and if only frames were measured the rate would never rise
    /// again). `None` for frames only.
    #[cfg_attr(feature = "serde", serde(default))]
    pub stand_in_after: Option<Span>,
    /// N: number of probes in the idle part of a frame interval (I2: 4); 0 for none.
    pub probes: u32,
    /// Their size, for the requested padding rate.
    pub probe_size: Bytes,
    /// Probes use at most this share of B (ours: 0.02): four per frame are negligible at the paper's 40 Mbps, but not
    /// at 1.
    pub probe_share: f64,
    /// A frame that lost more than this share of its packets (the specification's reading: 0.2; 1 for never, which is
    /// what the Camel paper's Figures 19 and 20 show of Pudica: docs/papers/pudica.md) ...
    pub max_lost: f64,
    /// ... counts as one of this utilisation (reading: 1.5).
    pub lost_utilization: f64,
    /// B before the first frame (reading: 0.2 to 1 Mbps).
    pub initial: Rate,
    /// B_min.
    pub min: Rate,
    /// B_max until the application states its own (paper: 50 Mbps). The drift balances near half of it.
    pub max: Rate,
    /// After this long without feedback, and each time again (reading: 200 ms) ...
    pub feedback_timeout: Span,
    /// ... or after this many smoothed round trips (reading: 3) ...
    pub feedback_timeout_srtts: i64,
    /// ... B is multiplied by this (reading: 0.7).
    pub feedback_timeout_factor: f64,
}

/// Which part of the bytes in flight is drained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Drained {
    /// The part above what the path holds without a queue, at the receive rate. Ours: if a round trip is as long as the
    /// horizon, a full path without any queue would otherwise stop the sender.
    #[default]
    Queue,
    /// All of it (I1, I2).
    Flight,
}

/// When the rate of a drain is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum DrainRate {
    /// When the drain begins (I1), and again when a frame sent a horizon later still finds the queue. Otherwise there
    /// is no reaction to a second drop of the capacity, or to one that the first measurement of the receive rate missed
    /// (ours).
    #[default]
    Anew,
    /// When the drain begins (I1, reading).
    Once,
    /// For each frame (I2).
    EachFrame,
}

/// The rate to which a frame's utilisation belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum RateOfFrame {
    /// B_k is the frame's actual rate, 8 F / L (reading).
    #[default]
    Actual,
    /// B_k is the encoder's target: volatile if the encoder produces less, as Camel's authors found.
    Target,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            frame_interval: None,
            pacing_gain: 1.25,
            max_pacing: 10.0,
            threshold: 0.85,
            multiplicative: 0.3,
            max_multiplied: 1.5,
            drift: 0.05,
            max_drift: 0.05,
            period: Span::from_secs(5),
            fallback: 0.15,
            drain_frames: 3,
            drain_horizon: Span::from_millis(200),
            drained: Drained::default(),
            drain_rate: DrainRate::default(),
            late_intervals: 2.0,
            late_after_round_trip: true,
            history: Span::from_millis(200),
            rate_of_frame: RateOfFrame::default(),
            max_rectified: 10.0,
            delay_window: Span::from_secs(10),
            clock_step: Span::from_secs(5),
            stand_in_after: Some(Span::from_millis(200)),
            probes: 4,
            probe_size: Bytes::new(80),
            probe_share: 0.02,
            max_lost: 1.0,
            lost_utilization: 1.5,
            initial: Rate::from_kbps(300),
            min: Rate::from_kbps(50),
            max: Rate::from_kbps(50_000),
            feedback_timeout: Span::from_millis(200),
            feedback_timeout_srtts: 3,
            feedback_timeout_factor: 0.7,
        }
    }
}

impl Config {
    /// The literal specification, without our changes.
    pub fn literal() -> Config {
        Config {
            drained: Drained::Flight,
            drain_rate: DrainRate::Once,
            late_after_round_trip: false,
            clock_step: Span::MAX,
            stand_in_after: None,
            max_rectified: 1e6,
            probe_share: 1.0,
            max_lost: 0.2,
            ..Config::default()
        }
    }

    /// Checks that every parameter is in range.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        for (name, value, max) in [
            ("pudica.threshold", self.threshold, 1.0),
            ("pudica.multiplicative", self.multiplicative, 10.0),
            ("pudica.drift", self.drift, 1.0),
            ("pudica.max_drift", self.max_drift, 1.0),
            ("pudica.max_lost", self.max_lost, 1.0),
            ("pudica.lost_utilization", self.lost_utilization, 100.0),
            ("pudica.feedback_timeout_factor", self.feedback_timeout_factor, 1.0),
            ("pudica.late_intervals", self.late_intervals, 1000.0),
        ] {
            check(name, value).is(value > 0.0 && value <= max, format_args!("above 0 and at most {max}"))?;
        }
        for (name, value) in [("pudica.fallback", self.fallback), ("pudica.probe_share", self.probe_share)] {
            check(name, value).is(
                (0.0..=1.0).contains(&value) && (value != 1.0 || name != "pudica.fallback"),
                "0 to 1, such as 0.15; a fallback below 1",
            )?;
        }
        for (name, value) in
            [("pudica.max_multiplied", self.max_multiplied), ("pudica.max_rectified", self.max_rectified)]
        {
            check(name, value).is(!value.is_nan() && value >= 1.0, "1 or more, such as 1.5")?;
        }
        check("pudica pacing", format_args!("pacing_gain {}, max_pacing {}", self.pacing_gain, self.max_pacing)).is(
            self.pacing_gain >= 1.0 && self.max_pacing >= self.pacing_gain && self.max_pacing <= 1000.0,
            "1 <= pacing_gain <= max_pacing <= 1000",
        )?;
        check("pudica rates", format_args!("min {}, initial {}, max {}", self.min, self.initial, self.max)).is(
            self.min != Rate::ZERO && self.initial >= self.min && self.max >= self.initial && self.max != Rate::MAX,
            "0 < min <= initial <= max",
        )?;
        for (name, value) in [
            ("pudica.frame_interval", self.frame_interval.unwrap_or(Span::from_millis(1))),
            ("pudica.period", self.period),
            ("pudica.drain_horizon", self.drain_horizon),
            ("pudica.history", self.history),
            ("pudica.delay_window", self.delay_window),
            ("pudica.clock_step", self.clock_step),
            ("pudica.stand_in_after", self.stand_in_after.unwrap_or(Span::from_millis(1))),
            ("pudica.feedback_timeout", self.feedback_timeout),
        ] {
            check(name, value).within(Span::from_millis(1).., "the default")?;
        }
        check(
            "pudica counts",
            format_args!("feedback_timeout_srtts {}, drain_frames {}", self.feedback_timeout_srtts, self.drain_frames),
        )
        .is(
            self.feedback_timeout_srtts >= 0 && self.drain_frames != 0,
            "feedback_timeout_srtts >= 0 and drain_frames >= 1",
        )?;
        Ok(())
    }
}
