//! libwebrtc's parameters, with their field-trial keys.

use thalweg_units::{Bytes, ConfigError, Rate, Span, above, check};

use crate::ecn::MarkingConfig;

/// Parameters of SCReAM as libwebrtc has it (specs/l4s.md 3.1, its versions of July and August 2026).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The target before the first report.
    pub start: Rate,
    /// The min window (`MinRefWindow`, 1000 B).
    pub min_window: Bytes,
    /// The segment by which it grows (`MaxSegmentSize`, 1280 B).
    pub segment: Bytes,
    /// It grows up to this many times the bytes that were in flight (`BytesInFlightHeadRoom`, 1.1).
    pub headroom: f64,
    /// How strongly steps shrink near the window of the last decrease (`BackoffScaleFactorCloseToRefWindowI`, 2).
    pub closeness: f64,
    /// The factor after losses (`BetaLoss`, 0.7).
    pub beta_loss: f64,
    /// How marks are averaged (`L4sAvgGUp`, `L4sAvgGDown`), at each report.
    pub marking: MarkingConfig,
    /// `VirtualRtt`, 25 ms.
    pub virtual_rtt: Span,
    /// The queueing delay at which the window falls as fast as it does (`QDelayTarget`, 60 ms); it begins at half.
    pub delay_target: Span,
    /// Growth beyond a segment a round trip, as a share of the window (`MultiplicativeIncreaseFactor`, 0.02) ...
    pub multiplicative: f64,
    /// ... once so many round trips have passed since a reaction (`PostCongestionDelayRtts`, 100).
    pub post_congestion: f64,
    /// Queueing delay and its spread above which growth and answers are damped (`QDelayMinThreshold`,
    /// `LatencyDiffThreshold`, 10 ms).
    pub jitter: Span,
    /// Losses count once they came in so many round trips in a row (`RttsWithLossBeforeBackoff`, 3) ...
    pub rounds_with_loss: f64,
    /// ... and no more after so many without (`LosslessRttsBeforeClear`, 2).
    pub rounds_without_loss: f64,
    /// The pacing rate as a multiple of the target (`PacingFactor`, 1.1).
    pub pacing: f64,
    /// ... and at least this share of the rate at which packets arrive (`PacingRateReceivedFactor`, 0.8).
    pub pacing_received: f64,
    /// A queue of more than 5 ms for this long is drained (20 s).
    pub drain_after: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            start: Rate::from_kbps(300),
            min_window: Bytes::new(1000),
            segment: Bytes::new(1280),
            headroom: 1.1,
            closeness: 2.0,
            beta_loss: 0.7,
            marking: MarkingConfig::default(),
            virtual_rtt: Span::from_millis(25),
            delay_target: Span::from_millis(60),
            multiplicative: 0.02,
            post_congestion: 100.0,
            jitter: Span::from_millis(10),
            rounds_with_loss: 3.0,
            rounds_without_loss: 2.0,
            pacing: 1.1,
            pacing_received: 0.8,
            drain_after: Span::from_secs(20),
        }
    }
}

impl Config {
    /// # Errors
    /// When a parameter is out of range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.marking.check()?;
        for (name, span, example) in [
            ("scream-libwebrtc.virtual_rtt", self.virtual_rtt, "25ms"),
            ("scream-libwebrtc.delay_target", self.delay_target, "60ms"),
            ("scream-libwebrtc.jitter", self.jitter, "10ms"),
            ("scream-libwebrtc.drain_after", self.drain_after, "20s"),
        ] {
            check(name, span).within(above(Span::ZERO), example)?;
        }
        for (name, value, range, example) in [
            ("scream-libwebrtc.headroom", self.headroom, (1.0, 10.0), "1.1"),
            ("scream-libwebrtc.closeness", self.closeness, (0.1, 100.0), "2"),
            ("scream-libwebrtc.beta_loss", self.beta_loss, (0.1, 1.0), "0.7"),
            ("scream-libwebrtc.multiplicative", self.multiplicative, (0.0, 1.0), "0.02"),
            ("scream-libwebrtc.post_congestion", self.post_congestion, (1e-3, 1e6), "100"),
            ("scream-libwebrtc.rounds_with_loss", self.rounds_with_loss, (1.0, 100.0), "3"),
            ("scream-libwebrtc.rounds_without_loss", self.rounds_without_loss, (1.0, 100.0), "2"),
            ("scream-libwebrtc.pacing", self.pacing, (1.0, 10.0), "1.1"),
            ("scream-libwebrtc.pacing_received", self.pacing_received, (0.0, 1.0), "0.8"),
        ] {
            check(name, value).within(range.0..=range.1, example)?;
        }
        check("scream-libwebrtc.start", self.start).within(above(Rate::ZERO), "300kbps")?;
        check("scream-libwebrtc.segment", self.segment).within(above(Bytes::ZERO), "1280B")?;
        check("scream-libwebrtc.min_window", self.min_window).within(Bytes::new(500).., "1000B")
    }
}
