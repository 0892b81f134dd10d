//! RRTCC's parameters.

use thalweg_units::{ConfigError, Rate, Span, check};

/// RRTCC's parameters (specs/rrtcc.md). "2012" is libwebrtc of that year: `overuse_detector.cc`,
/// `remote_rate_control.cc`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// A_r and A_s before the first report (128 kbps, FBRA's experiment).
    pub start: Rate,
    /// The min rate (32 kbps, FBRA's experiment).
    pub min: Rate,
    /// How the queue's trend is estimated from the frames.
    pub filter: FilterConfig,
    /// When that trend counts as overuse.
    pub detector: DetectorConfig,
    /// How the receiver's rate reacts.
    pub receiver: ReceiverConfig,
    /// How the sender reacts to losses.
    pub loss: LossConfig,
    /// The pacing rate as a multiple of the rate (2.5, libwebrtc's pacer of the time).
    pub pacing_gain: f64,
    /// A raised rate is first sent as FEC, and given to media if it is still allowed after this long (FBRA section 7:
    /// "it can allocate the difference in the current rate and the new rate to FEC"); `None` gives it to media at once.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub prove_for: Option<Span>,
}

/// How the queue's trend is estimated from the frames.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum FilterConfig {
    /// Two states: the time per byte, and the trend (2012).
    Kalman(KalmanConfig),
    /// One state: the trend (draft-ietf-rmcat-gcc-02 section 5.3).
    Scalar(ScalarConfig),
}

/// The filter with two states, in milliseconds and bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct KalmanConfig {
    /// The slope before the first frame, ms per byte (8 / 512: 512 kbps).
    pub slope: f64,
    /// E before the first frame, of slope and offset (100, 0.1).
    pub error: (f64, f64),
    /// Q, of slope and offset, at frames of 33.3 ms (1e-10, 1e-2).
    pub process: (f64, f64),
    /// The noise variance before the first frame, ms^2 (50) ...
    pub noise: f64,
    /// ... and its min (1e-7).
    pub noise_floor: f64,
}

/// The filter with one state, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct ScalarConfig {
    /// q: variance of the trend's own change from frame to frame, ms^2 (1e-3).
    pub process: f64,
    /// e before the first frame, ms^2 (0.1).
    pub error: f64,
    /// chi: gain of the noise estimate (0.01; 0.001 to 0.1).
    pub gain: f64,
    /// The noise variance before the first frame, and its min, ms^2 (1).
    pub noise_floor: f64,
}

/// When a trend counts as overuse.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct DetectorConfig {
    /// theta: the threshold of overuse for the trend times frames seen (at most 60), ms (25, 2012) ...
    pub threshold: f64,
    /// ... and the share of it that applies near or above the max known rate (0.5, 2012).
    pub threshold_share_near: f64,
    /// How long the trend must stay above it (100 ms, 2012; 10 ms in gcc-02).
    pub lasting: Span,
    /// Max number of frames by which the trend is multiplied (60, 2012). 1 follows the drafts literally: they compare
    /// the trend itself, m(i), with a threshold, so the queue must grow by that many milliseconds with each frame.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "weigh_as_in_2012"))]
    pub weighing: u32,
}

/// How the receiver's rate reacts.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct ReceiverConfig {
    /// Interval between updates of A_r, which is also updated at once on new overuse (1 s, FBRA's experiment).
    pub period: Span,
    /// The window over which R is measured (1 s).
    pub window: Span,
    /// beta (0.9) ...
    pub decrease: f64,
    /// ... and near the max known rate (0.95).
    pub decrease_near: f64,
    /// How the rate grows.
    pub increase: Increase,
    /// A_r grows to at most this many times R (1.5).
    pub max_of_received: f64,
    /// After this long without packets, or a clock jump of this size, the filter restarts (2 s).
    pub forget_after: Span,
}

/// How the receiver's rate grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Increase {
    /// By a factor that depends on the response time and the noise (2012, drafts 00 and 01).
    #[default]
    Multiplicative,
    /// By 8 % a second; near the max known rate, by half a packet per response time (drafts 02 and 03, gcc-02).
    Additive,
}

/// The sender's rule.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct LossConfig {
    /// Interval between receiver reports (1 s).
    pub period: Span,
    /// Below this share of packets lost, the rate grows (0.02) ...
    pub low: f64,
    /// ... and above this share, the rate falls by half of the share lost (0.10); at and between the two bounds it
    /// holds.
    pub high: f64,
    /// The growth factor (1.05) ...
    pub growth: f64,
    /// ... and the amount added before the factor is applied (1 kbps).
    pub step: Rate,
    /// Keeps the rate at or above TFRC's.
    pub tfrc_floor: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            start: Rate::from_kbps(128),
            min: Rate::from_kbps(32),
            filter: FilterConfig::default(),
            detector: DetectorConfig::default(),
            receiver: ReceiverConfig::default(),
            loss: LossConfig::default(),
            pacing_gain: 2.5,
            prove_for: None,
        }
    }
}

impl Default for FilterConfig {
    fn default() -> FilterConfig {
        FilterConfig::Kalman(KalmanConfig::default())
    }
}

impl Default for KalmanConfig {
    fn default() -> KalmanConfig {
        KalmanConfig { slope: 8.0 / 512.0, error: (100.0, 0.1), process: (1e-10, 1e-2), noise: 50.0, noise_floor: 1e-7 }
    }
}

impl Default for ScalarConfig {
    fn default() -> ScalarConfig {
        ScalarConfig { process: 1e-3, error: 0.1, gain: 0.01, noise_floor: 1.0 }
    }
}

impl Default for DetectorConfig {
    fn default() -> DetectorConfig {
        DetectorConfig { threshold: 25.0, threshold_share_near: 0.5, lasting: Span::from_millis(100), weighing: 60 }
    }
}

/// Returns true for the default, which serialisation omits.
#[cfg(feature = "serde")]
fn weigh_as_in_2012(weighing: &u32) -> bool {
    *weighing == DetectorConfig::default().weighing
}

impl Default for ReceiverConfig {
    fn default() -> ReceiverConfig {
        ReceiverConfig {
            period: Span::from_secs(1),
            window: Span::from_secs(1),
            decrease: 0.9,
            decrease_near: 0.95,
            increase: Increase::default(),
            max_of_received: 1.5,
            forget_after: Span::from_secs(2),
        }
    }
}

impl Default for LossConfig {
    fn default() -> LossConfig {
        LossConfig {
            period: Span::from_secs(1),
            low: 0.02,
            high: 0.10,
            growth: 1.05,
            step: Rate::from_kbps(1),
            tfrc_floor: true,
        }
    }
}

impl Config {
    /// Checks that every parameter is in range.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let Config { detector, receiver, loss, .. } = *self;
        check("rrtcc rates", format_args!("min {}, start {}", self.min, self.start))
            .is(self.min != Rate::ZERO && self.start >= self.min, "0 < min <= start")?;
        for (name, span, example) in [
            ("rrtcc.detector.lasting", detector.lasting, "100ms"),
            ("rrtcc.receiver.period", receiver.period, "1s"),
            ("rrtcc.receiver.window", receiver.window, "1s"),
            ("rrtcc.receiver.forget_after", receiver.forget_after, "2s"),
            ("rrtcc.loss.period", loss.period, "1s"),
        ] {
            check(name, span).within(Span::from_millis(1).., example)?;
        }
        check("rrtcc.prove_for", format_args!("{:?}", self.prove_for))
            .is(self.prove_for.is_none_or(|span| span > Span::ZERO), "above 0")?;
        let filter = match self.filter {
            FilterConfig::Kalman(KalmanConfig { slope, error, process, noise, noise_floor }) => [
                ("rrtcc.filter.slope", slope, (0.0, 10.0), "0.015625"),
                ("rrtcc.filter.error.0", error.0, (0.0, 1e6), "100"),
                ("rrtcc.filter.error.1", error.1, (0.0, 1e6), "0.1"),
                ("rrtcc.filter.process.0", process.0, (0.0, 1.0), "1e-10"),
                ("rrtcc.filter.process.1", process.1, (0.0, 1.0), "0.01"),
                ("rrtcc.filter.noise", noise, (noise_floor, 1e6), "50"),
                ("rrtcc.filter.noise_floor", noise_floor, (1e-9, 1e6), "1e-7"),
            ]
            .to_vec(),
            FilterConfig::Scalar(ScalarConfig { process, error, gain, noise_floor }) => [
                ("rrtcc.filter.process", process, (1e-9, 1e3), "0.001"),
                ("rrtcc.filter.error", error, (0.0, 1e6), "0.1"),
                ("rrtcc.filter.gain", gain, (1e-6, 0.999), "0.01"),
                ("rrtcc.filter.noise_floor", noise_floor, (1e-9, 1e6), "1"),
            ]
            .to_vec(),
        };
        let others = [
            ("rrtcc.detector.threshold", detector.threshold, (0.1, 1e4), "25"),
            ("rrtcc.detector.weighing", f64::from(detector.weighing), (1.0, 1000.0), "60"),
            ("rrtcc.detector.threshold_share_near", detector.threshold_share_near, (0.01, 1.0), "0.5"),
            ("rrtcc.receiver.decrease", receiver.decrease, (0.01, 1.0), "0.9"),
            ("rrtcc.receiver.decrease_near", receiver.decrease_near, (0.01, 1.0), "0.95"),
            ("rrtcc.receiver.max_of_received", receiver.max_of_received, (1.0, 100.0), "1.5"),
            ("rrtcc.loss.low", loss.low, (0.0, loss.high), "0.02"),
            ("rrtcc.loss.high", loss.high, (0.0, 1.0), "0.1"),
            ("rrtcc.loss.growth", loss.growth, (1.0, 2.0), "1.05"),
            ("rrtcc.pacing_gain", self.pacing_gain, (1.0, 10.0), "2.5"),
        ];
        for (name, value, range, example) in filter.into_iter().chain(others) {
            check(name, value).within(range.0..=range.1, example)?;
        }
        Ok(())
    }
}
