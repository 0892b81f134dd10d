//! NADA's parameters.

use thalweg_units::{Bytes, ConfigError, Rate, Span, above, check};

/// NADA's parameters, by RFC 8698's symbols (its figure 3; specs/nada.md).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// r_ref before feedback (the RFC begins with RMIN; specs/nada.md 2: a choice).
    pub start: Rate,
    /// RMIN, 150 kbps ...
    pub min: Rate,
    /// ... and RMAX, 1.5 Mbps. A flow settles where the delay is PRIO x XREF x RMAX / rate, so RMAX must be set for the
    /// application.
    pub max: Rate,
    /// Takes RMIN and RMAX from the application's demand.
    pub follows_demand: bool,
    /// How congestion is measured.
    pub signal: SignalConfig,
    /// How the rate reacts.
    pub rate: RateConfig,
    /// BETA_V: the share of the queued bytes by which the encoder's output is reduced within a frame (0.1).
    pub encoder_share: f64,
    /// BETA_S: the share of them that is sent in addition to the rate within a frame (0.1).
    pub sending_share: f64,
    /// The max of either, as a share of the rate (0.05).
    pub max_shaping: f64,
    /// If no report arrives for this long beyond a round trip while packets are in flight, the rate is multiplied by
    /// `feedback_timeout_share`, and again after each further such wait (500 ms; the RFC leaves it open).
    pub feedback_timeout: Span,
    /// The factor; see `feedback_timeout` (0.5).
    pub feedback_timeout_share: f64,
}

/// How congestion is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct SignalConfig {
    /// LOGWIN: the observation window (500 ms).
    pub window: Span,
    /// QEPS: queueing delay up to this does not count as a queue (10 ms).
    pub quiet: Span,
    /// Number of packets over which the min delay is taken (15).
    pub filter: u64,
    /// The delay of the empty path is the minimum over this many bins (10) ...
    pub base_bins: usize,
    /// ... each of this length (a minute).
    pub base_bin: Span,
    /// ALPHA: the weight of the newest ratio of losses or marks (0.1).
    pub gain: f64,
    /// QTH: above this, delay counts less while losses show that a queue overflows (50 ms).
    pub warp_from: Span,
    /// LAMBDA: how fast the weight of delay falls above QTH (0.5).
    pub warp: f64,
    /// MULTILOSS: a loss counts as recent for this many average loss intervals (7); over one more, the warping is
    /// removed gradually (ns3-rmcat).
    pub recent_loss: f64,
    /// DLOSS: the delay that a loss share of PLRREF counts as (10 ms).
    pub loss_delay: Span,
    /// PLRREF (0.01).
    pub loss_ratio: f64,
    /// DMARK: the delay that a mark share of PMRREF counts as (2 ms).
    pub mark_delay: Span,
    /// PMRREF (0.01).
    pub mark_ratio: f64,
    /// Max of the signal (500 ms, ns3-rmcat).
    pub max: Span,
}

/// How the rate reacts.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct RateConfig {
    /// PRIO: this flow's weight (1).
    pub priority: f64,
    /// XREF: the signal at RMAX (10 ms).
    pub reference: Span,
    /// KAPPA: how strongly the rate reacts (0.5).
    pub kappa: f64,
    /// ETA: the weight of the signal's change relative to its offset (2).
    pub eta: f64,
    /// TAU: the max round trip for which the control is stable (500 ms).
    pub tau: Span,
    /// DELTA: the assumed interval between reports (100 ms).
    pub delta: Span,
    /// DFILT: the delay of the filters (120 ms).
    pub filter_delay: Span,
    /// QBOUND: the max queueing delay that a ramp-up may cause (50 ms).
    pub queue_bound: Span,
    /// GAMMA_MAX: max share by which a ramp-up exceeds the receive rate (0.5).
    pub max_gamma: f64,
    /// Min interval between rate updates (50 ms, ns3-rmcat).
    pub min_interval: Span,
    /// A longer time since the last update counts as this much (500 ms; our choice: after a pause, one step would
    /// otherwise be as large as the rate).
    pub max_interval: Span,
    /// Outside of a ramp-up, the rate is at most this many times the receive rate (2; specs/nada.md 2: a choice);
    /// `None` for no limit.
    #[cfg_attr(feature = "serde", serde(default))]
    pub max_of_received: Option<f64>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            start: Rate::from_kbps(300),
            min: Rate::from_kbps(150),
            max: Rate::from_kbps(1500),
            follows_demand: true,
            signal: SignalConfig::default(),
            rate: RateConfig::default(),
            encoder_share: 0.1,
            sending_share: 0.1,
            max_shaping: 0.05,
            feedback_timeout: Span::from_millis(500),
            feedback_timeout_share: 0.5,
        }
    }
}

impl Default for SignalConfig {
    fn default() -> SignalConfig {
        SignalConfig {
            window: Span::from_millis(500),
            quiet: Span::from_millis(10),
            filter: 15,
            base_bins: 10,
            base_bin: Span::from_secs(60),
            gain: 0.1,
            warp_from: Span::from_millis(50),
            warp: 0.5,
            recent_loss: 7.0,
            loss_delay: Span::from_millis(10),
            loss_ratio: 0.01,
            mark_delay: Span::from_millis(2),
            mark_ratio: 0.01,
            max: Span::from_millis(500),
        }
    }
}

impl Default for RateConfig {
    fn default() -> RateConfig {
        RateConfig {
            priority: 1.0,
            reference: Span::from_millis(10),
            kappa: 0.5,
            eta: 2.0,
            tau: Span::from_millis(500),
            delta: Span::from_millis(100),
            filter_delay: Span::from_millis(120),
            queue_bound: Span::from_millis(50),
            max_gamma: 0.5,
            min_interval: Span::from_millis(50),
            max_interval: Span::from_millis(500),
            max_of_received: Some(2.0),
        }
    }
}

impl Config {
    /// Checks that every parameter is in range.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let Config { signal, rate, .. } = *self;
        check("nada rates", format_args!("min {}, max {}, start {}", self.min, self.max, self.start)).is(
            self.min != Rate::ZERO && self.max >= self.min && self.start != Rate::ZERO,
            "0 < min <= max and 0 < start",
        )?;
        for (name, span, example) in [
            ("nada.feedback_timeout", self.feedback_timeout, "500ms"),
            ("nada.signal.window", signal.window, "500ms"),
            ("nada.signal.quiet", signal.quiet, "10ms"),
            ("nada.signal.base_bin", signal.base_bin, "1min"),
            ("nada.signal.warp_from", signal.warp_from, "50ms"),
            ("nada.signal.max", signal.max, "500ms"),
            ("nada.rate.reference", rate.reference, "10ms"),
            ("nada.rate.tau", rate.tau, "500ms"),
            ("nada.rate.delta", rate.delta, "100ms"),
            ("nada.rate.min_interval", rate.min_interval, "50ms"),
            ("nada.rate.max_interval", rate.max_interval, "500ms"),
        ] {
            check(name, span).within(above(Span::ZERO), example)?;
        }
        for (name, span) in [
            ("nada.signal.loss_delay", signal.loss_delay),
            ("nada.signal.mark_delay", signal.mark_delay),
            ("nada.rate.filter_delay", rate.filter_delay),
            ("nada.rate.queue_bound", rate.queue_bound),
        ] {
            check(name, span).within(Span::ZERO.., "10ms")?;
        }
        for (name, value, range, example) in [
            ("nada.encoder_share", self.encoder_share, (0.0, 1.0), "0.1"),
            ("nada.sending_share", self.sending_share, (0.0, 1.0), "0.1"),
            ("nada.max_shaping", self.max_shaping, (0.0, 1.0), "0.05"),
            ("nada.feedback_timeout_share", self.feedback_timeout_share, (0.0, 1.0), "0.5"),
            ("nada.signal.gain", signal.gain, (1e-6, 1.0), "0.1"),
            ("nada.signal.warp", signal.warp, (0.0, 10.0), "0.5"),
            ("nada.signal.recent_loss", signal.recent_loss, (0.0, 1000.0), "7"),
            ("nada.signal.loss_ratio", signal.loss_ratio, (1e-6, 1.0), "0.01"),
            ("nada.signal.mark_ratio", signal.mark_ratio, (1e-6, 1.0), "0.01"),
            ("nada.rate.priority", rate.priority, (1e-3, 1000.0), "1"),
            ("nada.rate.kappa", rate.kappa, (0.0, 10.0), "0.5"),
            ("nada.rate.eta", rate.eta, (0.0, 100.0), "2"),
            ("nada.rate.max_gamma", rate.max_gamma, (0.0, 10.0), "0.5"),
            ("nada.rate.max_of_received", rate.max_of_received.unwrap_or(1.0), (1.0, 100.0), "2"),
        ] {
            check(name, value).within(range.0..=range.1, example)?;
        }
        check("nada.signal", format_args!("filter {}, base_bins {}", signal.filter, signal.base_bins))
            .is(signal.filter != 0 && signal.base_bins != 0, "above 0, such as 15 and 10")?;
        Ok(())
    }
}

impl Config {
    /// D: the rate offset for sending `share` of `waiting` within a frame of `interval`.
    pub(super) fn shaping(&self, rate: Rate, share: f64, waiting: Bytes, interval: Span) -> Rate {
        waiting.scale(share).per(interval).min(rate.scale(self.max_shaping))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Nada;
    use super::*;

    #[test]
    fn what_waits_moves_the_encoder_and_the_pacer_by_a_twentieth_of_the_rate_at_most() {
        let config = Config::default();
        let shaping = |bytes| config.shaping(Rate::from_kbps(1000), 0.1, Bytes::new(bytes), Span::of_frame(30.0));
        // 3000 B would be 72 kbps.
        assert_eq!(shaping(3000), Rate::from_kbps(50));
        assert_eq!(shaping(1000).as_bps().div_ceil(10), 2400);
        assert_eq!(shaping(0), Rate::ZERO);
    }

    #[test]
    fn parameters_that_cannot_work_are_refused_with_value_and_range() {
        let rate = RateConfig { kappa: -1.0, ..RateConfig::default() };
        let message = alloc::format!("{}", Nada::new(Config { rate, ..Config::default() }).unwrap_err());
        assert_eq!(message, "nada.rate.kappa is -1, must be 0 to 10, such as 0.5");
        assert!(Nada::new(Config { max: Rate::from_kbps(100), ..Config::default() }).is_err());
    }
}
