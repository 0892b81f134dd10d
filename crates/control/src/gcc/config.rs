//! GCC's parameters.

use thalweg_units::{ConfigError, Rate, Span, above_to, between, check};

use super::{acknowledged_rate, aimd, alr, loss, overuse, probe_controller, pushback};

/// GCC as libwebrtc runs it for a camera today; [`Config::of_2017`] and [`Config::of_2023`] are older builds.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The estimate before feedback (WebRTC: 300 kbps).
    pub start: Rate,
    /// The min estimate.
    pub min: Rate,
    /// Pacing is this many times the target: 1.1 with transport-wide feedback since December 2025, 2.5 before
    /// (specs/gcc.md 11; `kDefaultPaceMultiplier`).
    pub pacing_factor: f64,
    /// Limits the rate by the delay of packets. Without it the rate is by loss and the receiver's own limit alone, and
    /// nothing is probed: for reports that do not say when packets arrived.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_usual"))]
    pub delay: bool,
    /// The overuse detector.
    pub overuse: overuse::Config,
    /// The acknowledged rate.
    pub acknowledged_rate: acknowledged_rate::Config,
    /// The delay-based rate control.
    pub aimd: aimd::Config,
    /// The loss-based rate.
    pub loss: loss::Config,
    /// Probing.
    pub probing: probe_controller::Config,
    /// Application-limited regions.
    pub alr: alr::Config,
    /// Pushback; `None` switches it off.
    #[cfg_attr(feature = "serde", serde(default))]
    pub pushback: Option<pushback::Config>,
    /// Back off when the round-trip time, plus the time without feedback, exceeds this (specs/gcc.md 7), `None` for
    /// never ...
    #[cfg_attr(feature = "serde", serde(default))]
    pub rtt_limit: Option<Span>,
    /// ... at this interval ...
    pub rtt_back_off_interval: Span,
    /// ... by this factor ...
    pub rtt_back_off: f64,
    /// ... down to this rate.
    pub rtt_floor: Rate,
    /// Padding is sent up to this rate while media is below it, as far as the target allows (`max_padding_rate_`).
    pub padding: Rate,
    /// The rate at which the estimate starts over after a change of route.
    pub restart: Restart,
    /// Only a change of the network adapter starts the estimate over (WebRTC-Bwe-ResetOnAdapterIdChange), not any change
    /// of route.
    pub restart_by_adapter: bool,
}

/// Where the estimate starts over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Restart {
    /// At the start rate.
    #[default]
    Start,
    /// At the target before, if it is below the start rate (WebRTC-Bwe-SafeResetOnRouteChange).
    Target,
    /// At the acknowledged rate before, if it is known and below the start rate (the same, with `ack`).
    Acknowledged,
}

/// Returns true for the default (delay limits the rate), which files omit.
#[cfg(feature = "serde")]
fn is_usual(delay: &bool) -> bool {
    *delay
}

impl Default for Config {
    fn default() -> Config {
        Config {
            start: Rate::from_kbps(300),
            min: Rate::from_kbps(30),
            pacing_factor: 1.1,
            delay: true,
            overuse: overuse::Config::default(),
            acknowledged_rate: acknowledged_rate::Config::default(),
            aimd: aimd::Config::default(),
            loss: loss::Config::default(),
            probing: probe_controller::Config::default(),
            alr: alr::Config::default(),
            pushback: Some(pushback::Config::default()),
            rtt_limit: Some(Span::from_secs(3)),
            rtt_back_off_interval: Span::from_secs(1),
            rtt_back_off: 0.8,
            rtt_floor: Rate::from_kbps(5),
            padding: Rate::ZERO,
            restart: Restart::Start,
            restart_by_adapter: false,
        }
    }
}

impl Config {
    /// libwebrtc as Salsify's authors measured it in Chrome 62 (Salsify figure 5): at 4c14009, of 31 August 2017, the
    /// day M62 was branched.
    ///
    /// `webrtc/modules/`: `pacing/paced_sender.cc` paces at 2.5 times the estimate; `bitrate_controller/
    /// send_side_bandwidth_estimation.cc` has the thresholds of 2 and 10 % over receiver reports, and no back-off for
    /// missing feedback (WebRTC-FeedbackTimeout was an experiment); `congestion_controller/` has the trendline, the
    /// Bayesian acknowledged rate, probes at 3 and 6 times the start rate and after a drop in application-limited
    /// regions, all of them whether congested or not; WebRTC-CwndExperiment, the ancestor of pushback, was off.
    pub fn of_2017() -> Config {
        Config {
            acknowledged_rate: acknowledged_rate::Config::Bayesian,
            loss: loss::Config::V1(loss::V1Config::default()),
            overuse: overuse::Config { whole_report: true, outlasts_pauses: true, ..overuse::Config::default() },
            alr: alr::Config { usage: 0.65, start: 0.80, stop: 0.50 },
            rtt_limit: None,
            ..Config::of_2023()
        }
    }

    /// libwebrtc as Vidaptive's authors built on it (first version of September 2023): at f42cfc5, of 1 May 2023 (M114).
    ///
    /// `modules/congestion_controller/goog_cc/`: pacing at 2.5 times the estimate; the Bayesian acknowledged rate (the
    /// robust one became the default in 0fa90c3, August 2023); the loss-based rate by likelihood, on by default since
    /// e047262 (December 2022), without the holds and bounds of October 2023 and after; probes whether congested or not
    /// (until 7c612c3, October 2023). `aimd_rate_control.cc` took no further 5 kbps off (98e71f5, September 2023).
    ///
    /// Pushback was on by default (4593047, February 2021), but their sender cannot have had it: with it latency settles
    /// 2 to 3 s after the drop of Vidaptive's Fig. 1, without it after 9 to 12 s, and the paper says 12
    /// (docs/papers/gcc.md). So it is off here, as `WebRTC-CongestionWindow` lets an application choose.
    pub fn of_2023() -> Config {
        Config {
            pacing_factor: 2.5,
            acknowledged_rate: acknowledged_rate::Config::Bayesian,
            aimd: aimd::Config { margin: Rate::ZERO, ..aimd::Config::default() },
            loss: loss::Config::V2(loss::V2Config::of_2023()),
            probing: probe_controller::Config {
                while_congested: true,
                at_least_acknowledged: false,
                raised_step: None,
                ..probe_controller::Config::default()
            },
            pushback: None,
            ..Config::default()
        }
    }

    /// libwebrtc where no transport-wide feedback was negotiated, so that receiver reports are all it has
    /// (`send_side_bandwidth_estimation.cc`, specs/gcc.md 6.1): 8 % a second up while at most 2 % are lost, down by half
    /// of a loss above 10 %; paced at 2.5 times the target, as `kDefaultPaceMultiplier` has it without that feedback. No
    /// probes and no pushback, which need arrivals within a round trip. The back-off waits for what RFC 3550 calls a
    /// missing report: the longest interval of 5 s drawn 1.5 times as long (sections 6.2 and 6.3.1).
    pub fn by_loss() -> Config {
        Config {
            pacing_factor: 2.5,
            delay: false,
            loss: loss::Config::V1(loss::V1Config::default()),
            pushback: None,
            rtt_limit: Some(Span::from_millis(7500)),
            rtt_floor: Rate::from_kbps(30),
            ..Config::default()
        }
    }

    /// Checks that every parameter is in range.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        check("gcc rates", format_args!("min {}, start {}", self.min, self.start))
            .is(self.min != Rate::ZERO && self.start >= self.min, "0 < min <= start")?;
        check("gcc.pacing_factor", self.pacing_factor).within(1.0..=10.0, "1.1")?;
        self.loss.check()?;
        check("gcc.aimd.beta", self.aimd.beta).within(between(0.0, 1.0), "0.85")?;
        check("gcc.aimd.growth", self.aimd.growth).within(above_to(1.0, 2.0), "the default")?;
        check("gcc.overuse", format_args!("{:?}", self.overuse)).is(
            self.overuse.initial_threshold > 0.0 && self.overuse.rise >= 0.0 && self.overuse.fall >= 0.0,
            "a threshold above 0 ms, rise and fall not negative",
        )?;
        Ok(())
    }
}
