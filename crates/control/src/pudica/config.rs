//! Pudica's parameters.

use thalweg_units::{Bytes, ConfigError, Rate, Span, check};

/// The parameters. I1 and I2 are the public reimplementations that specs/pudica.md names so, "reading" is its choice (R),
/// "ours" neither.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// L, where it is known. `None` takes the time to the next frame or, before that has left, the usual one (reading).
    #[cfg_attr(feature = "serde", serde(default))]
    pub frame_interval: Option<Span>,
    /// gamma_p: a frame leaves at gamma_p / R times B (I1, I2: 1.25) ...
    pub pacing_gain: f64,
    /// ... and at no more than so many times (I2: 10), nor less than gamma_p (reading).
    pub max_pacing: f64,
    /// alpha: up to this smoothed utilisation the rate is multiplied, above it drifts (I1, I2: 0.85).
    pub threshold: f64,
    /// gamma_MI (I1, I2: 0.3).
    pub multiplicative: f64,
    /// One multiplication is by at most this (reading: 1.5).
    pub max_multiplied: f64,
    /// gamma_MD (I1, I2: 0.05).
    pub drift: f64,
    /// One drift changes B by at most this share of it (reading: 0.05; I1 has 1 Mbps down, I2 0.1 both ways).
    pub max_drift: f64,
    /// tau, in seconds, grows up to this and then begins anew (I1: 5 s).
    pub period: Span,
    /// zeta: how much smaller the next frame is after one with R > 1 (I1, I2: 0.15).
    pub fallback: f64,
    /// So many frames with R > 1 in a row begin a drain (I1, I2: 3).
    pub drain_frames: u32,
    /// What is under way is to be drained in this time (I1, I2: 200 ms).
    pub drain_horizon: Span,
    /// What of what is under way that is.
    pub drained: Drained,
    /// When the rate of a drain is set.
    pub drain_rate: DrainRate,
    /// A frame of which something is missing after so many intervals is late (I1: 2), ...
    pub late_intervals: f64,
    /// ... beyond a smoothed round trip, which brings feedback on it (ours; I1 lives on paths shorter than a frame's
    /// interval).
    pub late_after_round_trip: bool,
    /// What counts towards the smoothed utilisation (I1, I2: 200 ms).
    pub history: Span,
    /// Which rate a frame's utilisation belongs to.
    pub rate_of_frame: RateOfFrame,
    /// A frame below its rate stands for one of the whole by at most this factor (ours: 10).
    pub max_rectified: f64,
    /// D_min is the least delay of so long (I2: 10 s).
    pub delay_window: Span,
    /// A delay that is longer than the one before it by more than this is of another clock, set back or lied about, and D_min begins anew
    /// (ours: 5 s; until the window has passed the queue would else seem as long as the clocks are apart).
    pub clock_step: Span,
    /// When no frame has left for so long, what is retransmitted in an interval counts as one (ours: 200 ms; at a low rate retransmissions can take all
    /// of it, and where only frames are measured none would ever be raised again). `None` for frames alone.
    #[cfg_attr(feature = "serde", serde(default))]
    pub stand_in_after: Option<Span>,
    /// N: probes in the idle part of a frame's interval (I2: 4); 0 for none.
    pub probes: u32,
    /// Their size, for the rate of padding that is asked for.
    pub probe_size: Bytes,
    /// They may take at most this share of B (ours: 0.02): four to a frame are nothing at the paper's 40 Mbps, but are
    /// at 1.
    pub probe_share: f64,
    /// A frame of which a larger share is lost (the specification's reading: 0.2; 1 for never, which is what the Camel
    /// paper's Figures 19 and 20 show of Pudica: docs/papers/pudica.md) ...
    pub max_lost: f64,
    /// ... counts as one of this utilisation (reading: 1.5).
    pub lost_utilization: f64,
    /// B before the first frame (reading: 0.2 to 1 Mbps).
    pub initial: Rate,
    /// B_min.
    pub min: Rate,
    /// B_max until the application says what its own is (paper: 50 Mbps). The drift's balance is near half of it.
    pub max: Rate,
    /// Without feedback for so long, and then each time again (reading: 200 ms) ...
    pub feedback_timeout: Span,
    /// ... or for so many smoothed round trips (reading: 3) ...
    pub feedback_timeout_srtts: i64,
    /// ... B falls to this share of itself (reading: 0.7).
    pub feedback_timeout_factor: f64,
}

/// What of what is under way is to be drained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Drained {
    /// What the path would not hold without a queue, at the rate that arrives. Ours: where a round trip takes as long
    /// as the horizon, a full path without any queue would stop the sender.
    #[default]
    Queue,
    /// All of it (I1, I2).
    Flight,
}

/// When the rate of a drain is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum DrainRate {
    /// As it begins (I1), and anew when a frame sent a horizon later still finds the queue: else a second drop of the
    /// capacity, or one that the first measure of the receive rate did not see, is never answered (ours).
    #[default]
    Anew,
    /// As it begins (I1, reading).
    Once,
    /// With each frame (I2).
    EachFrame,
}

/// Which rate a frame's utilisation belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum RateOfFrame {
    /// B_k is what the frame was, 8 F / L (reading).
    #[default]
    Actual,
    /// B_k is the encoder's target: volatile where it makes less, as Camel's authors found.
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
    /// The specification to the letter: without what is ours.
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

    /// That every parameter is in range.
    ///
    /// # Errors
    /// When one is not.
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
