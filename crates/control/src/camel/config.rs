//! Camel's parameters.

use thalweg_units::{Bytes, ConfigError, Rate, Span, above, above_to, check};

use super::{bandwidth, burst_length, fallback, gradient};

/// Camel's parameters: the paper's where it has them, and each reading of it that had to be chosen (specs/camel.md 1,
/// marked (R)).
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The target before the first burst is measured (R).
    pub start: Rate,
    /// The min target (R).
    pub min: Rate,
    /// avg(B).
    pub bandwidth: bandwidth::Config,
    /// The window over which min(D) is taken (R).
    pub delay_window: Span,
    /// The limit on bytes in flight.
    pub window: Window,
    /// The congestion detector.
    pub gradient: gradient::Config,
    /// How congestion changes the target.
    pub gamma: Gamma,
    /// M.
    pub burst_length: burst_length::Config,
    /// The reaction when even the shortest burst is too long.
    pub fallback: fallback::Config,
    /// The reaction when no feedback arrives.
    pub feedback_timeout: Timeout,
    /// A train of padding when nothing was measured for a long time, on otherwise idle connections; `None` for none.
    #[cfg_attr(feature = "serde", serde(default))]
    pub idle: Option<IdleTrain>,
}

/// How cwnd follows from gamma * BDP (equations 1 and 3).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Window {
    /// g_c: cwnd is this many times gamma * BDP (R); 1 in the paper.
    pub gain: f64,
    /// Keeps the window at no less than a burst (the frame, up to M) plus one packet, or gamma times the burst while
    /// congested (R). A frame at 1 Mbps and 30 frames a second is larger than the product of 1 Mbps and 25 ms.
    pub holds_burst: bool,
    /// If feedback on packets waits for longer than half of this on average, the wait counts as delay (R: reports 10 ms
    /// apart); `None` never counts it.
    #[cfg_attr(feature = "serde", serde(default))]
    pub covers_reports: Option<Span>,
    /// This quantile of D - min(D), over the gradient's window, counts as delay while the gradient does not tell
    /// congestion (R); `None` for min(D) alone. Under jitter, the mean round trip is far above min(D), and a window of
    /// 1.25 BDP holds frames back: an encoder that fills 1 Mbps gets 446 kbps of it at 50 ms of jitter
    /// (docs/papers/camel.md, Figure 18).
    #[cfg_attr(feature = "serde", serde(default))]
    pub covers_jitter: Option<f64>,
    /// cwnd is at least this many packets (R).
    pub min_packets: u64,
    /// cwnd in packets before the first burst is measured (R).
    pub first_packets: u64,
    /// The size of a full packet on the wire (MTU).
    pub packet: Bytes,
}

impl Default for Window {
    fn default() -> Window {
        Window {
            gain: 1.25,
            holds_burst: true,
            covers_reports: Some(Span::from_millis(10)),
            covers_jitter: Some(0.9),
            min_packets: 4,
            first_packets: 10,
            packet: Bytes::new(1200),
        }
    }
}

/// How gamma changes (equation 5).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Gamma {
    /// While congested, gamma is multiplied by this (0.95); otherwise it is 1.
    pub factor: f64,
    /// The min gamma (R).
    pub min: f64,
    /// Gamma changes once per min(D), not more often than this, and only with a new burst (R).
    pub min_interval: Span,
}

impl Default for Gamma {
    fn default() -> Gamma {
        Gamma { factor: 0.95, min: 0.10, min_interval: Span::from_millis(50) }
    }
}

/// Padding on an inactive connection (Camel section 5.1; its shape is a reading, specs/camel.md 6).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct IdleTrain {
    /// The time without measurement after which the train is sent.
    pub after: Span,
    /// How many packets.
    pub packets: u32,
    /// Their size on the wire.
    pub packet: Bytes,
}

impl Default for IdleTrain {
    fn default() -> IdleTrain {
        IdleTrain { after: Span::from_secs(5), packets: 5, packet: Bytes::new(1200) }
    }
}

/// The feedback timeout: the target shrinks once at each (specs/camel.md 7) (R).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Timeout {
    /// At least this long ...
    pub min: Span,
    /// ... and at least this many smoothed round trips.
    pub round_trips: i64,
    /// The factor applied to the target at each timeout.
    pub factor: f64,
}

impl Default for Timeout {
    fn default() -> Timeout {
        Timeout { min: Span::from_millis(500), round_trips: 3, factor: 0.5 }
    }
}

impl Default for Config {
    fn default() -> Config {
        Config {
            start: Rate::from_kbps(300),
            min: Rate::from_kbps(50),
            bandwidth: bandwidth::Config::default(),
            delay_window: Span::from_secs(10),
            window: Window::default(),
            gradient: gradient::Config::default(),
            gamma: Gamma::default(),
            burst_length: burst_length::Config::default(),
            fallback: fallback::Config::default(),
            feedback_timeout: Timeout::default(),
            idle: Some(IdleTrain::default()),
        }
    }
}

impl Config {
    /// The equations as printed: cwnd = gamma * BDP, M grows unless it is seen to lose, two packets are enough for a
    /// measurement. Readings of what the paper leaves open are kept. The encoder share of the paper
    /// (`thalweg_sender::frames::share`) belongs to it.
    pub fn paper_literal() -> Config {
        Config {
            window: Window {
                gain: 1.0,
                holds_burst: false,
                covers_reports: None,
                covers_jitter: None,
                ..Window::default()
            },
            gradient: gradient::Config { global_threshold: 0.25, ..gradient::Config::default() },
            bandwidth: bandwidth::Config {
                min_packets: 2,
                short_bursts: bandwidth::ShortBursts::Drop,
                ..bandwidth::Config::default()
            },
            burst_length: burst_length::Config {
                unseen: burst_length::Unseen::Grow,
                margin_at_min: 0.0,
                ..burst_length::Config::default()
            },
            ..Config::default()
        }
    }

    /// Checks that every parameter is in range.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check("camel rates", format_args!("min {}, start {}", self.min, self.start))
            .is(self.min != Rate::ZERO && self.start >= self.min, "0 < min <= start, such as 50kbps and 300kbps")?;
        for (name, value) in [
            ("camel.delay_window", self.delay_window),
            ("camel.gamma.min_interval", self.gamma.min_interval),
            ("camel.feedback_timeout.min", self.feedback_timeout.min),
            ("camel.fallback.retry", self.fallback.retry),
            ("camel.fallback.trial", self.fallback.trial),
            ("camel.idle.after", self.idle.map_or(Span::MAX, |idle| idle.after)),
        ] {
            check(name, value).within(above(Span::ZERO), "the default")?;
        }
        for (name, value) in [
            ("camel.gamma.factor", self.gamma.factor),
            ("camel.gamma.min", self.gamma.min),
            ("camel.feedback_timeout.factor", self.feedback_timeout.factor),
        ] {
            check(name, value).within(above_to(0.0, 1.0), "the default")?;
        }
        check("camel.window.gain", self.window.gain).within(above_to(0.0, 100.0), "1.25")?;
        check("camel.window.covers_jitter", self.window.covers_jitter.unwrap_or(0.0)).within(0.0..=1.0, "0.9")?;
        let Window { packet, min_packets, first_packets, .. } = self.window;
        check("camel.window", format_args!("{min_packets} and {first_packets} packets of {packet}")).is(
            packet * min_packets.min(first_packets) >= Bytes::new(1500),
            "at least 1500 bytes, such as 4 of 1200B",
        )?;
        if let Some(idle) = self.idle {
            check("camel.idle.packets", idle.packets).within(2..=1000, "20")?;
            check("camel.idle.packet", idle.packet).within(above(Bytes::ZERO), "the default")?;
        }
        self.bandwidth.check()?;
        self.gradient.check()?;
        self.burst_length.check()?;
        self.fallback.gcc.check()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Camel;
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn both_presets_build_and_impossible_parameters_say_what_to_do() {
        assert!(Camel::new(Config::default()).is_ok() && Camel::new(Config::paper_literal()).is_ok());
        let error = |config: Config| Camel::new(config).err().map(|error| error.to_string());
        let gamma = Gamma { factor: 1.5, ..Gamma::default() };
        assert_eq!(
            error(Config { gamma, ..Config::default() }).as_deref(),
            Some("camel.gamma.factor is 1.5, must be above 0 and at most 1, such as the default")
        );
        let window = Window { min_packets: 1, ..Window::default() };
        assert!(error(Config { window, ..Config::default() }).is_some_and(|text| text.contains("1500 bytes")));
        let burst_length = burst_length::Config { first: Bytes::new(1000), ..burst_length::Config::default() };
        assert!(error(Config { burst_length, ..Config::default() }).is_some());
        assert!(error(Config { min: Rate::ZERO, ..Config::default() }).is_some());
    }
}
