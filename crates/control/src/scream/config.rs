//! SCReAM's parameters.

use thalweg_units::{Bytes, ConfigError, Rate, Span, above, check};

use crate::ecn::{ClassicConfig, MarkingConfig};

/// SCReAM v2's parameters, by the draft's constants (draft-ietf-ccwg-rfc8298bis-screamv2; specs/scream.md).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The target before the first round trip is known; the first window is the one that this target needs (spec:
    /// choice; the draft begins with the min window).
    pub start: Rate,
    /// Queueing delay.
    pub delay: DelayConfig,
    /// The reference window.
    pub window: WindowConfig,
    /// The target and the pacing.
    pub media: MediaConfig,
    /// Reaction to marked packets by the share that is marked (L4S) instead of by a constant factor; `None` on paths
    /// with classic ECN or none.
    #[cfg_attr(feature = "serde", serde(default))]
    pub l4s: Option<L4s>,
    /// If no report arrives for the larger of this and `feedback_timeout_rtts` smoothed round trips while packets are
    /// in flight, the window is multiplied by `feedback_timeout_share` (spec: choice).
    pub feedback_timeout: Span,
    /// In smoothed round trips; see `feedback_timeout`.
    pub feedback_timeout_rtts: f64,
    /// The factor; see `feedback_timeout`.
    pub feedback_timeout_share: f64,
}

/// How queueing delay is evaluated.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct DelayConfig {
    /// qdelay_target: the window shrinks from half of this delay on (QDELAY_TARGET_LO, 60 ms).
    pub target: Span,
    /// The weight of a longer delay in qdelay_avg; a shorter one is adopted at once (QDELAY_AVG_G, 1/4).
    pub gain: f64,
    /// The delay of the empty path is the min over this many bins ... (RFC 6817: 10)
    pub base_bins: usize,
    /// ... each of this length (RFC 6817: a minute).
    pub base_bin: Span,
    /// How a queue that never empties is drained; `None` for not at all (the draft). Without it a path whose delay rises
    /// for good counts as a queue for ten minutes.
    pub drain: Option<DrainConfig>,
}

/// When and how a queue that never empties is drained, and the delay of the empty path measured anew: the rule of the
/// authors' implementation (github.com/EricssonResearch/scream, `code/ScreamV2Tx.cpp`), which the draft does not have.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct DrainConfig {
    /// A queue stands if its min delay stays above this share of the target (`queueDelayTarget / 8`).
    pub above: f64,
    /// The min delay is taken over this many round trips (`kQueueDelayMinSlowAvgUpdateRtts`, 100) ...
    pub over: f64,
    /// ... and averaged with this weight where it rises (`kQueueDelayMinSlowAvgAlpha`, 1/8).
    pub gain: f64,
    /// Least time between two drains, and before the first (`kBaseDelayResetInterval_ntp`, a minute).
    pub interval: Span,
    /// While the queue is drained the target is multiplied by this (0.5) ...
    pub share: f64,
    /// ... for the longer of 100 ms and this many round trips (`kNumRateLimitRtts`, 5).
    pub lasts: f64,
}

/// How the reference window changes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct WindowConfig {
    /// The min window (MIN_REF_WND, 3000 B).
    pub min: Bytes,
    /// MSS, 1000 B: the window grows by one MSS per round trip.
    pub segment: Bytes,
    /// It also grows by this share of its size (MUL_INCREASE_FACTOR, 0.02) once the last congestion is long past.
    pub multiplicative: f64,
    /// The number of round trips after which it is (POST_CONGESTION_DELAY_RTT, 100).
    pub post_congestion: f64,
    /// It grows up to this many times the bytes that were in flight (BYTES_IN_FLIGHT_HEAD_ROOM, 1.5).
    pub headroom: f64,
    /// How strongly steps shrink near the window of the last congestion (8; libwebrtc 2).
    pub closeness: f64,
    /// The factor after a loss (BETA_LOSS, 0.7).
    pub beta_loss: f64,
    /// The factor after a mark (BETA_ECN, 0.8).
    pub beta_ecn: f64,
    /// The min interval between reactions, and the round trip below which growth is not accelerated (VIRTUAL_RTT, 25
    /// ms).
    pub virtual_rtt: Span,
    /// How often the window reacts to losses.
    pub losses: Losses,
}

/// How often losses shrink the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Losses {
    /// Once in the shorter of a round trip and VIRTUAL_RTT, like any other congestion (the draft).
    #[default]
    EachVirtualRoundTrip,
    /// Once per smoothed round trip, as in RFC 8298: an overflowing queue on a long path is one congestion event, not
    /// several.
    EachRoundTrip,
}

/// How the encoder's target and the pacing rate follow from the window.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct MediaConfig {
    /// Up to this many windows may be in flight (REF_WND_OVERHEAD: 3.0, down to 1.5 against jitter).
    pub window_overhead: f64,
    /// The target is the window's rate divided by this and by the allowance for frames (1.2).
    pub target_margin: f64,
    /// Header bytes per packet that the target excludes (PACKET_OVERHEAD, 20 B).
    pub packet_overhead: Bytes,
    /// The pacing rate as a multiple of the target (PACKET_PACING_HEADROOM, 1.5) ...
    pub pacing: f64,
    /// ... with at least this rate as the target (RATE_PACE_MIN, 50 kbps) ...
    pub min_pacing: Rate,
    /// ... and up to this many times faster (4) ...
    pub pacing_relaxed: f64,
    /// ... as the target rises from this share of its maximum (0.8) to the maximum.
    pub pacing_relaxed_from: f64,
}

/// On a path that marks early (L4S).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct L4s {
    /// How marks are averaged.
    pub marking: MarkingConfig,
    /// The pacing rate as a multiple of the target while marks come: at the draft's 1.5 a frame alone fills a shallow
    /// queue, and two thirds of the link are used (specs/l4s.md 3.6; 1.1).
    pub pacing: f64,
    /// For how long after a mark (15 s, libwebrtc's time without large bursts).
    pub pacing_for: Span,
    /// How a queue is noticed that takes ECT(1) for ECT(0), so that its marks are answered as classic ones; `None`, the
    /// default as in Linux, for not at all.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub classic: Option<ClassicConfig>,
}

impl Default for L4s {
    fn default() -> L4s {
        L4s { marking: MarkingConfig::default(), pacing: 1.1, pacing_for: Span::from_secs(15), classic: None }
    }
}

impl Default for Config {
    fn default() -> Config {
        Config {
            start: Rate::from_kbps(300),
            delay: DelayConfig::default(),
            window: WindowConfig::default(),
            media: MediaConfig::default(),
            l4s: None,
            feedback_timeout: Span::from_secs(1),
            feedback_timeout_rtts: 2.0,
            feedback_timeout_share: 0.5,
        }
    }
}

impl Default for DelayConfig {
    fn default() -> DelayConfig {
        DelayConfig {
            target: Span::from_millis(60),
            gain: 0.25,
            base_bins: 10,
            base_bin: Span::from_secs(60),
            drain: Some(DrainConfig::default()),
        }
    }
}

impl Default for DrainConfig {
    fn default() -> DrainConfig {
        let interval = Span::from_secs(60);
        DrainConfig { above: 0.125, over: 100.0, gain: 0.125, interval, share: 0.5, lasts: 5.0 }
    }
}

impl Default for WindowConfig {
    fn default() -> WindowConfig {
        WindowConfig {
            min: Bytes::new(3000),
            segment: Bytes::new(1000),
            multiplicative: 0.02,
            post_congestion: 100.0,
            headroom: 1.5,
            closeness: 8.0,
            beta_loss: 0.7,
            beta_ecn: 0.8,
            virtual_rtt: Span::from_millis(25),
            losses: Losses::default(),
        }
    }
}

impl Default for MediaConfig {
    fn default() -> MediaConfig {
        MediaConfig {
            window_overhead: 3.0,
            target_margin: 1.2,
            packet_overhead: Bytes::new(20),
            pacing: 1.5,
            min_pacing: Rate::from_kbps(50),
            pacing_relaxed: 4.0,
            pacing_relaxed_from: 0.8,
        }
    }
}

impl Config {
    /// Checks that every parameter is in range.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let Config { delay, window, media, .. } = *self;
        let l4s = self.l4s.unwrap_or_default();
        let drain = delay.drain.unwrap_or_default();
        l4s.marking.check()?;
        l4s.classic.as_ref().map_or(Ok(()), ClassicConfig::check)?;
        for (name, span, example) in [
            ("scream.feedback_timeout", self.feedback_timeout, "1s"),
            ("scream.delay.target", delay.target, "60ms"),
            ("scream.delay.base_bin", delay.base_bin, "1min"),
            ("scream.delay.drain.interval", drain.interval, "1min"),
            ("scream.window.virtual_rtt", window.virtual_rtt, "25ms"),
            ("scream.l4s.pacing_for", l4s.pacing_for, "15s"),
        ] {
            check(name, span).within(above(Span::ZERO), example)?;
        }
        for (name, value, range, example) in [
            ("scream.delay.gain", delay.gain, (1e-6, 1.0), "0.25"),
            ("scream.delay.drain.above", drain.above, (1e-3, 10.0), "0.125"),
            ("scream.delay.drain.over", drain.over, (1.0, 1e4), "100"),
            ("scream.delay.drain.gain", drain.gain, (1e-6, 1.0), "0.125"),
            ("scream.delay.drain.share", drain.share, (0.01, 1.0), "0.5"),
            ("scream.delay.drain.lasts", drain.lasts, (1.0, 100.0), "5"),
            ("scream.l4s.pacing", l4s.pacing, (1.0, 10.0), "1.1"),
            ("scream.feedback_timeout_rtts", self.feedback_timeout_rtts, (0.0, 100.0), "2"),
            ("scream.feedback_timeout_share", self.feedback_timeout_share, (0.0, 1.0), "0.5"),
            ("scream.window.multiplicative", window.multiplicative, (0.0, 1.0), "0.02"),
            ("scream.window.post_congestion", window.post_congestion, (1e-3, 1e6), "100"),
            ("scream.window.headroom", window.headroom, (1.0, 10.0), "1.5"),
            ("scream.window.closeness", window.closeness, (0.1, 100.0), "8"),
            ("scream.window.beta_loss", window.beta_loss, (0.1, 1.0), "0.7"),
            ("scream.window.beta_ecn", window.beta_ecn, (0.1, 1.0), "0.8"),
            ("scream.media.window_overhead", media.window_overhead, (1.0, 10.0), "3"),
            ("scream.media.target_margin", media.target_margin, (1.0, 10.0), "1.2"),
            ("scream.media.pacing", media.pacing, (1.0, 10.0), "1.5"),
            ("scream.media.pacing_relaxed", media.pacing_relaxed, (1.0, 100.0), "4"),
            ("scream.media.pacing_relaxed_from", media.pacing_relaxed_from, (0.0, 0.999), "0.8"),
        ] {
            check(name, value).within(range.0..=range.1, example)?;
        }
        check("scream.window", format_args!("segment {}, least {}", window.segment, window.min)).is(
            window.segment != Bytes::ZERO && window.min >= Bytes::new(1500),
            "a segment above 0, least 1500B or more",
        )?;
        check(
            "scream",
            format_args!("start {}, min_pacing {}, base_bins {}", self.start, media.min_pacing, delay.base_bins),
        )
        .is(
            self.start != Rate::ZERO && media.min_pacing != Rate::ZERO && delay.base_bins != 0,
            "above 0, such as 300kbps, 50kbps and 10",
        )?;
        Ok(())
    }
}
