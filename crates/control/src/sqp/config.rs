//! SQP's parameters.

use thalweg_units::{Bytes, ConfigError, Rate, Span, above_to, check};

use crate::packet::MSS;

/// The parameters. "Fork" is the public reimplementation that specs/sqp.md marks I, "reading" a choice made there (R);
/// "ours" is neither.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// m: a frame leaves at m B (fork: 2).
    pub pacing_gain: f64,
    /// T: the target share of a sample (fork: 0.9).
    pub target_gain: f64,
    /// delta: the step per frame (fork: 320 kbps) ...
    pub step: Rate,
    /// ... but at most this share of the application's maximum (reading: 0.08).
    pub step_of_max: f64,
    /// One frame changes B by at most this share of B (reading: 0.25).
    pub max_change: f64,
    /// r: the weight of the growth term (fork: 0.25).
    pub reward: f64,
    /// The interval I between frames, if known; `None` measures it by the frames' first packets.
    #[cfg_attr(feature = "serde", serde(default))]
    pub frame_interval: Option<Span>,
    /// Delta_min is the min delay over this many smoothed round trips (fork: 2) ...
    pub delay_srtts: f64,
    /// ... and, before a round trip is known, over this time (fork: 1 s).
    pub delay_before: Span,
    /// B_0 (fork: 1 Mbps; lower if the application's maximum is).
    pub initial: Rate,
    /// B_min (reading: 50 kbps). B_max is the application's.
    pub min: Rate,
    /// Which of a frame's bytes count for its sample.
    pub counted: Counted,
    /// Scales down a frame above its budget (g < 1), as the fork does.
    pub scales_down: bool,
    /// A frame scaled up by more than this is not sampled (reading: 10).
    pub max_scaled: f64,
    /// A smaller frame is not sampled. The reading is 3 MTU, which no frame below 2.2 Mbps reaches at 60 frames a
    /// second; no minimum here.
    pub min_size: Bytes,
    /// A frame of which a smaller share of packets arrived is not sampled (reading: 0.9).
    pub min_arrived: f64,
    /// How a frame of one packet counts.
    pub lone_packets: LonePackets,
    /// After this long without feedback, and each time again (reading: 500 ms) ...
    pub feedback_timeout: Span,
    /// ... or after this many smoothed round trips (reading: 3) ...
    pub feedback_timeout_srtts: i64,
    /// ... B is multiplied by this (reading: 0.7).
    pub feedback_timeout_factor: f64,
}

/// Which of a frame's bytes count for its sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Counted {
    /// All but those of one packet, the one with the min delay, whose own transmission time is part of that delay.
    /// Ours: if all bytes are counted, a frame of four packets shows four thirds of the capacity, and 0.9 of that is
    /// more than the path has.
    #[default]
    LessOnePacket,
    /// All of them: the literal specification.
    Whole,
}

/// How a frame of one packet counts, which is not a train.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum LonePackets {
    /// By its own delay above the min of ten seconds, if it has at least two thirds of its budget. Ours: otherwise a B
    /// whose frames are single packets (720 kbps at 60 frames a second) never changes.
    #[default]
    ByDelay,
    /// Not at all (reading).
    Nothing,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            pacing_gain: 2.0,
            target_gain: 0.9,
            step: Rate::from_kbps(320),
            step_of_max: 0.08,
            max_change: 0.25,
            reward: 0.25,
            frame_interval: None,
            delay_srtts: 2.0,
            delay_before: Span::from_secs(1),
            initial: Rate::from_kbps(1000),
            min: Rate::from_kbps(50),
            counted: Counted::default(),
            scales_down: false,
            max_scaled: 10.0,
            min_size: Bytes::ZERO,
            min_arrived: 0.9,
            lone_packets: LonePackets::default(),
            feedback_timeout: Span::from_millis(500),
            feedback_timeout_srtts: 3,
            feedback_timeout_factor: 0.7,
        }
    }
}

impl Config {
    /// The literal specification, without our changes.
    pub fn literal() -> Config {
        Config { counted: Counted::Whole, min_size: MSS * 3, lone_packets: LonePackets::Nothing, ..Config::default() }
    }

    /// Checks that every parameter is in range.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        for (name, value, min) in [
            ("sqp.pacing_gain", self.pacing_gain, 1.0),
            ("sqp.target_gain", self.target_gain, 0.0),
            ("sqp.step_of_max", self.step_of_max, 0.0),
            ("sqp.reward", self.reward, 0.0),
            ("sqp.delay_srtts", self.delay_srtts, 0.0),
            ("sqp.max_scaled", self.max_scaled, 1.0),
        ] {
            check(name, value).is(
                value > 0.0 && value >= min && value <= 1e6,
                "above 0 and at most 1000000; gains of pacing and scaling at least 1",
            )?;
        }
        for (name, value) in [
            ("sqp.max_change", self.max_change),
            ("sqp.min_arrived", self.min_arrived),
            ("sqp.feedback_timeout_factor", self.feedback_timeout_factor),
        ] {
            check(name, value).within(above_to(0.0, 1.0), "0.7")?;
        }
        check("sqp rates", format_args!("step {}, min {}, initial {}", self.step, self.min, self.initial)).is(
            self.min != Rate::ZERO && self.initial >= self.min && self.step != Rate::ZERO,
            "0 < step and 0 < min <= initial",
        )?;
        for (name, value) in [
            ("sqp.frame_interval", self.frame_interval.unwrap_or(Span::from_millis(1))),
            ("sqp.delay_before", self.delay_before),
            ("sqp.feedback_timeout", self.feedback_timeout),
        ] {
            check(name, value).within(Span::from_millis(1).., "the default")?;
        }
        check("sqp.feedback_timeout_srtts", self.feedback_timeout_srtts).within(0.., "3")?;
        Ok(())
    }
}
