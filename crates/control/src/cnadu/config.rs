//! The parameters of the C-NADU-like controller.

use thalweg_units::{ConfigError, Rate, Span, check};

/// The parameters. Little of C-NADU is established (specs/cnadu.md): \[T\] is V. Singh's thesis, everything else is a
/// reading (R).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The rate before the first report (128 kbps, FBRA's experiment).
    pub start: Rate,
    /// The min rate (32 kbps, FBRA's experiment).
    pub min: Rate,
    /// Interval between reports (500 ms) ...
    pub report_interval: Span,
    /// ... or this many round trips, if that is longer (2) ...
    pub report_round_trips: f64,
    /// ... but not later than this (ours: 2 s).
    pub longest_interval: Span,
    /// If no report arrives for this long, the rate is multiplied by `timeout_share` (2 s).
    pub timeout: Span,
    /// The factor applied to the rate when no feedback arrives (0.5).
    pub timeout_share: f64,
    /// The receiver's estimate.
    pub receiver: ReceiverConfig,
    /// The sender's rule.
    pub sender: SenderConfig,
    /// The pacing rate as a multiple of the rate (2.5, libwebrtc's pacer of the time). Packets that wait in the pacer
    /// arrive late: at the min rate, audio and the smallest pictures need more than 1.1 times the rate, and every frame
    /// would always miss its playout.
    pub pacing_gain: f64,
}

/// The receiver's estimate C, from how much later frames arrive than they were captured.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct ReceiverConfig {
    /// A frame that arrives later than this misses its playout (400 ms).
    pub deadline: Span,
    /// Lateness is measured against the min over this time (10 s).
    pub reference: Span,
    /// When a frame missed its playout, C is set to this share of the rate that arrives (0.85).
    pub missed_share: f64,
    /// Arrival intervals count as stretched if they exceed capture intervals by more than this share, twice in a row
    /// (0.05).
    pub tolerance: f64,
    /// C grows by this factor while they are not stretched (1.05).
    pub growth: f64,
    /// C is at most this many times the rate that arrives (1.5).
    pub max_of_received: f64,
}

/// The sender's rule.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct SenderConfig {
    /// The window of round trips with which the newest is compared (60 s).
    pub history: Span,
    /// Max number of them (300).
    pub max_history: usize,
    /// With fewer than this, no round trip counts as too long (5).
    pub min_history: usize,
    /// Above this percentile the rate holds (0.75 \[T\]) ...
    pub hold_share: f64,
    /// ... and above this one it falls (0.90 \[T\]) ...
    pub decrease_share: f64,
    /// ... to this share of the rate or of C (0.95) ...
    pub decrease: f64,
    /// ... or of the rate that arrives, if that is lower (ours: C needs two reports to detect that the capacity has
    /// dropped).
    pub decrease_to_received: bool,
    /// Exceeding either percentile by less than this has no effect (ours: 10 ms). On a quiet path, frames that grow
    /// with the rate exceed every percentile by their own transmission time alone, and the rate would never rise.
    pub quiet: Span,
    /// If more frames missed their playout, or more packets were lost, than this share, the rate goes below C and the
    /// rate that arrives (0.05) ...
    pub trouble: f64,
    /// Losses must also be at least this many packets (ours: 2; the receiver ignores short-lived events \[T\], and one
    /// of the fifteen packets of a report is more than that share).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "are_as_usual"))]
    pub trouble_packets: u32,
    /// ... to this share of the lower of the two (0.9).
    pub undershoot: f64,
    /// Number of reports ignored after that (1).
    pub left_out: u32,
    /// The share of the earlier arriving rate to which it returns (0.9).
    pub bounce_back: f64,
    /// A report raises the rate by at most this factor (ours: 1.04, 8 % a second as in other schemes of its time; 1.08
    /// in specs/cnadu.md, with which more packets are late on every path of FBRA's paper and less arrives).
    pub growth: f64,
    /// TFRC's rate counts as at most this many times C (2).
    pub max_of_capacity: f64,
}

/// Returns true for the default, which serialisation omits.
#[cfg(feature = "serde")]
fn are_as_usual(trouble_packets: &u32) -> bool {
    *trouble_packets == SenderConfig::default().trouble_packets
}

impl Default for Config {
    fn default() -> Config {
        Config {
            start: Rate::from_kbps(128),
            min: Rate::from_kbps(32),
            report_interval: Span::from_millis(500),
            report_round_trips: 2.0,
            longest_interval: Span::from_secs(2),
            timeout: Span::from_secs(2),
            timeout_share: 0.5,
            receiver: ReceiverConfig::default(),
            sender: SenderConfig::default(),
            pacing_gain: 2.5,
        }
    }
}

impl Default for ReceiverConfig {
    fn default() -> ReceiverConfig {
        ReceiverConfig {
            deadline: Span::from_millis(400),
            reference: Span::from_secs(10),
            missed_share: 0.85,
            tolerance: 0.05,
            growth: 1.05,
            max_of_received: 1.5,
        }
    }
}

impl Default for SenderConfig {
    fn default() -> SenderConfig {
        SenderConfig {
            history: Span::from_secs(60),
            max_history: 300,
            min_history: 5,
            hold_share: 0.75,
            decrease_share: 0.90,
            decrease: 0.95,
            decrease_to_received: true,
            quiet: Span::from_millis(10),
            trouble: 0.05,
            trouble_packets: 2,
            undershoot: 0.9,
            left_out: 1,
            bounce_back: 0.9,
            growth: 1.04,
            max_of_capacity: 2.0,
        }
    }
}

impl Config {
    /// Checks that every parameter is in range.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let Config { receiver, sender, .. } = *self;
        check("cnadu rates", format_args!("min {}, start {}", self.min, self.start))
            .is(self.min != Rate::ZERO && self.start >= self.min, "0 < min <= start")?;
        for (name, span, example) in [
            ("cnadu.report_interval", self.report_interval, "500ms"),
            ("cnadu.longest_interval", self.longest_interval - self.report_interval, "2s, beyond report_interval"),
            ("cnadu.timeout", self.timeout, "2s"),
            ("cnadu.receiver.deadline", receiver.deadline, "400ms"),
            ("cnadu.receiver.reference", receiver.reference, "10s"),
            ("cnadu.sender.history", sender.history, "60s"),
        ] {
            check(name, span).within(Span::from_millis(1).., example)?;
        }
        check("cnadu.sender.quiet", sender.quiet).within(Span::ZERO.., "10ms")?;
        for (name, value, range, example) in [
            ("cnadu.report_round_trips", self.report_round_trips, (0.0, 100.0), "2"),
            ("cnadu.timeout_share", self.timeout_share, (0.01, 1.0), "0.5"),
            ("cnadu.pacing_gain", self.pacing_gain, (1.0, 10.0), "1.1"),
            ("cnadu.receiver.missed_share", receiver.missed_share, (0.01, 1.0), "0.85"),
            ("cnadu.receiver.tolerance", receiver.tolerance, (0.0, 1.0), "0.05"),
            ("cnadu.receiver.growth", receiver.growth, (1.0, 2.0), "1.05"),
            ("cnadu.receiver.max_of_received", receiver.max_of_received, (1.0, 100.0), "1.5"),
            ("cnadu.sender.hold_share", sender.hold_share, (0.0, 1.0), "0.75"),
            ("cnadu.sender.decrease_share", sender.decrease_share, (0.0, 1.0), "0.9"),
            ("cnadu.sender.decrease", sender.decrease, (0.01, 1.0), "0.95"),
            ("cnadu.sender.trouble", sender.trouble, (0.0, 1.0), "0.05"),
            ("cnadu.sender.undershoot", sender.undershoot, (0.01, 1.0), "0.9"),
            ("cnadu.sender.bounce_back", sender.bounce_back, (0.01, 1.0), "0.9"),
            ("cnadu.sender.growth", sender.growth, (1.0, 2.0), "1.04"),
            ("cnadu.sender.max_of_capacity", sender.max_of_capacity, (1.0, 100.0), "2"),
        ] {
            check(name, value).within(range.0..=range.1, example)?;
        }
        Ok(())
    }
}
