//! FBRA's parameters.

use thalweg_units::{ConfigError, Rate, Span, check};

/// FBRA's parameters, by the paper's symbols. \[P\] is the paper (Nagy, Singh, Ott, Eggert, MMSys 2014), \[R\] a
/// reading where it is silent (specs/fbra.md).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The media rate before the first report (128 kbps \[P\]).
    pub start: Rate,
    /// The min media rate (32 kbps \[P\]).
    pub min: Rate,
    /// A packet with a larger one-way delay is discarded (delay_max, 400 ms \[P\]).
    pub delay_max: Span,
    /// The length of a report interval is this ...
    pub report_interval: Span,
    /// ... or this many median round trips (2 \[P\]), whichever is longer (200 ms \[R\]) ...
    pub report_round_trips: f64,
    /// ... but no longer than this (ours: 2 s; otherwise every report on a very long path would count as missing).
    pub longest_interval: Span,
    /// Ends an interval with each report, however short, as in the paper, where the receiver keeps time: a report in
    /// less than `rate.early` round trips then counts as early whatever it reports. Otherwise reports are gathered for
    /// an interval, and only one with a loss or a discard ends it early (ours: every other kind of feedback comes more
    /// often).
    pub each_report: bool,
    /// If no report arrives for this long, the rate is multiplied by `timeout_share` (2 s \[P\]).
    pub timeout: Span,
    /// Delay thresholds.
    pub thresholds: Thresholds,
    /// The number of FEC packets.
    pub fec: FecConfig,
    /// How the rate falls and recovers.
    pub rate: RateConfig,
    /// The pacing rate as a multiple of media and FEC (2.5, libwebrtc's pacer of the time; the paper's senders have
    /// none). At the min rate, audio and the smallest pictures need more than 1.1 times the rate: FEC does not help
    /// packets that wait in the pacer for 400 ms, and no probe would be sent.
    pub pacing_gain: f64,
}

/// Delay thresholds: the mean one-way delay of an interval relative to that of intervals without loss and discard.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Thresholds {
    /// alpha_undershoot, in DOWN (2.0 \[P\]).
    pub undershoot: f64,
    /// alpha_stay, in STAY and PROBE (1.1 \[P\]).
    pub stay: f64,
    /// alpha_down in PROBE (1.6 \[P\]) ...
    pub down_in_probe: f64,
    /// ... and in UP (1.4 \[P\]).
    pub down_in_up: f64,
    /// beta, in PROBE: above it, the probe continues with fewer FEC packets (1.2 \[P\]).
    pub probe: f64,
    /// The percentiles with which the delay is compared: C_low (0.4 \[P\]) ...
    pub low_share: f64,
    /// ... and C_high (0.8 \[P\]).
    pub high_share: f64,
    /// The window of remembered delays (60 s \[R\]).
    pub history: Span,
    /// Max number of them (300 \[R\]).
    pub max_history: usize,
    /// With fewer than this, both ratios are 1 (5 \[R\]).
    pub min_history: usize,
    /// A rate above this share of the recent max stays for one more report before it is probed (0.9 \[P\], text only).
    pub near_top: f64,
}

/// The number of FEC packets: one after every N media packets.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct FecConfig {
    /// Min N (2 \[P\]).
    pub min: u16,
    /// Max N (14 \[P\]): the value up to which N may grow while a probe continues.
    pub max: u16,
    /// Max N at or below the first goodput: probe as strongly as possible (ours: 2; 4 in specs/fbra.md).
    pub max_at_first: u16,
    /// N is at its min at this share of the recent max rate, and grows linearly up to that rate (0.5 \[R\]) ...
    pub from: f64,
    /// ... where a probe begins with this N (ours: 6; 14 in specs/fbra.md). By the paper's listing, FEC is sent in one
    /// interval of three or four, and the paper's FEC is a tenth of its media: with 14 it would be a fiftieth.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_usual_at_greatest"))]
    pub at_greatest: u16,
    /// The window of the max rate (2 s \[P\]).
    pub history: Span,
    /// N is at most the media packets of an interval minus this (2, \[R\] of "one FEC over what exists at the
    /// interval's end"). Otherwise a slow stream would never send an FEC packet and never learn the capacity. `None`
    /// for no limit.
    #[cfg_attr(feature = "serde", serde(default))]
    pub before_end: Option<u16>,
}

/// How the rate falls and recovers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct RateConfig {
    /// Undershoot: this share of R minus twice what did not arrive (0.9 \[P\]).
    pub undershoot: f64,
    /// Bounce back: this share of the earlier goodput (0.9 \[P\]).
    pub bounce_back: f64,
    /// Number of reports ignored after an undershoot (1 \[R\] of "a bit more than one RTCP interval").
    pub left_out: u32,
    /// A report after less than this many median round trips is early (1.5 \[P\]).
    pub early: f64,
    /// Combines the arrivals before an early report with the interval before it (ours: a few packets with two missing
    /// among them do not measure a rate).
    pub early_with_last: bool,
    /// The rate is raised to at most this many times the encoder's actual rate (1.2 \[R\]).
    pub max_of_actual: f64,
    /// The factor applied to the rate when no feedback arrives (0.5 \[P\]).
    pub timeout_share: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            start: Rate::from_kbps(128),
            min: Rate::from_kbps(32),
            delay_max: Span::from_millis(400),
            report_interval: Span::from_millis(200),
            report_round_trips: 2.0,
            longest_interval: Span::from_secs(2),
            each_report: false,
            timeout: Span::from_secs(2),
            thresholds: Thresholds::default(),
            fec: FecConfig::default(),
            rate: RateConfig::default(),
            pacing_gain: 2.5,
        }
    }
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds {
            undershoot: 2.0,
            stay: 1.1,
            down_in_probe: 1.6,
            down_in_up: 1.4,
            probe: 1.2,
            low_share: 0.4,
            high_share: 0.8,
            history: Span::from_secs(60),
            max_history: 300,
            min_history: 5,
            near_top: 0.9,
        }
    }
}

impl Default for FecConfig {
    fn default() -> FecConfig {
        FecConfig {
            min: 2,
            max: 14,
            max_at_first: 2,
            from: 0.5,
            at_greatest: 6,
            history: Span::from_secs(2),
            before_end: Some(2),
        }
    }
}

/// Returns true for the default, which serialisation omits.
#[cfg(feature = "serde")]
fn is_usual_at_greatest(at_greatest: &u16) -> bool {
    *at_greatest == FecConfig::default().at_greatest
}

impl Default for RateConfig {
    fn default() -> RateConfig {
        RateConfig {
            undershoot: 0.9,
            bounce_back: 0.9,
            left_out: 1,
            early: 1.5,
            early_with_last: true,
            max_of_actual: 1.2,
            timeout_share: 0.5,
        }
    }
}

impl Config {
    /// Checks that every parameter is in range.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let Config { thresholds, fec, rate, .. } = *self;
        check("fbra rates", format_args!("min {}, start {}", self.min, self.start))
            .is(self.min != Rate::ZERO && self.start >= self.min, "0 < min <= start")?;
        for (name, span, example) in [
            ("fbra.delay_max", self.delay_max, "400ms"),
            ("fbra.report_interval", self.report_interval, "200ms"),
            ("fbra.longest_interval", self.longest_interval - self.report_interval, "2s, beyond report_interval"),
            ("fbra.timeout", self.timeout, "2s"),
            ("fbra.thresholds.history", thresholds.history, "60s"),
            ("fbra.fec.history", fec.history, "2s"),
        ] {
            check(name, span).within(Span::from_millis(1).., example)?;
        }
        for (name, value, range, example) in [
            ("fbra.report_round_trips", self.report_round_trips, (0.0, 100.0), "2"),
            ("fbra.pacing_gain", self.pacing_gain, (1.0, 10.0), "1.1"),
            ("fbra.thresholds.undershoot", thresholds.undershoot, (1.0, 100.0), "2"),
            ("fbra.thresholds.stay", thresholds.stay, (1.0, 100.0), "1.1"),
            ("fbra.thresholds.down_in_probe", thresholds.down_in_probe, (1.0, 100.0), "1.6"),
            ("fbra.thresholds.down_in_up", thresholds.down_in_up, (1.0, 100.0), "1.4"),
            ("fbra.thresholds.probe", thresholds.probe, (1.0, 100.0), "1.2"),
            ("fbra.thresholds.low_share", thresholds.low_share, (0.0, 1.0), "0.4"),
            ("fbra.thresholds.high_share", thresholds.high_share, (0.0, 1.0), "0.8"),
            ("fbra.thresholds.near_top", thresholds.near_top, (0.0, 10.0), "0.9"),
            ("fbra.fec.from", fec.from, (0.0, 0.999), "0.5"),
            ("fbra.rate.undershoot", rate.undershoot, (0.01, 1.0), "0.9"),
            ("fbra.rate.bounce_back", rate.bounce_back, (0.01, 1.0), "0.9"),
            ("fbra.rate.early", rate.early, (0.0, 100.0), "1.5"),
            ("fbra.rate.max_of_actual", rate.max_of_actual, (1.0, 100.0), "1.2"),
            ("fbra.rate.timeout_share", rate.timeout_share, (0.01, 1.0), "0.5"),
        ] {
            check(name, value).within(range.0..=range.1, example)?;
        }
        let FecConfig { min, max, max_at_first, at_greatest, .. } = fec;
        check(
            "fbra.fec",
            format_args!("least {min}, most {max}, max_at_first {max_at_first}, at_greatest {at_greatest}"),
        )
        .is(
            min != 0 && max.min(max_at_first).min(at_greatest) >= min && at_greatest <= max,
            "0 < least <= most, max_at_first and at_greatest, and at_greatest <= most",
        )?;
        Ok(())
    }
}
