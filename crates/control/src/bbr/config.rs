//! BBR's parameters.

use thalweg_units::{Bytes, ConfigError, Rate, Seed, Span, check};

use crate::packet::MSS;

/// BBR v1's parameters as published (draft-cardwell-iccrg-bbr-congestion-control-00), by specs/bbr.md. They are meant
/// for bulk transfers: with media alone, BBR never learns the capacity of the path. [`Config::of_camel`] and
/// [`Config::for_media`] fill the path whenever they probe for more.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// BBRHighGain: pacing and window gain of STARTUP, and 1 / pacing gain of DRAIN (2 / ln 2 = 2.885: doubles in a
    /// round trip).
    pub high_gain: f64,
    /// Pacing gains of PROBE_BW, one per phase (1.25, 0.75 and six times 1).
    pub cycle: [f64; 8],
    /// cwnd_gain of PROBE_BW: twice the BDP.
    pub cwnd_gain: f64,
    /// The factor applied to every pacing rate; Linux leaves 0.01 unused, the draft nothing.
    pub pacing_margin: f64,
    /// BtlBwFilterLen, in round trips (10).
    pub bandwidth_rounds: u64,
    /// Distinguishes app-limited samples, as in the draft and Linux. libwebrtc's BBR has the rule but never calls it
    /// (`OnApplicationLimited`): every sample counts there except those of PROBE_RTT.
    pub marks_limited: bool,
    /// How the estimate ages while the application limits the sender.
    pub ageing: Ageing,
    /// The pipe counts as full once BtlBw has grown by less than this factor (1.25) ...
    pub full_pipe_growth: f64,
    /// ... in this many rounds in a row (3).
    pub full_pipe_rounds: u32,
    /// How RTprop is measured again.
    pub probe_rtt: ProbeRtt,
    /// InitialCwnd (ten packets).
    pub initial_window: Bytes,
    /// BBRMinPipeCwnd (four packets).
    pub min_window: Bytes,
    /// The window after a feedback timeout, until something sent later has arrived (one packet; mvfst: four).
    pub window_after_feedback_timeout: Bytes,
    /// The round trip assumed to pace the first window (1 ms, which is practically no pacing).
    pub srtt_before_samples: Span,
    /// When padding is requested, so that the path is full even without enough media.
    pub padding: Padding,
    /// The encoder's target as a share of BtlBw (specs/bbr.md 6: 0.95).
    pub target_share: f64,
    /// The encoder's target before there is an estimate (as in WebRTC: 300 kbps).
    pub start: Rate,
    /// The pacing rate, but not the filter, is kept at or above this ...
    pub min_rate: Rate,
    /// ... and at or below this.
    pub max_rate: Rate,
    /// Seeds the random phase in which PROBE_BW begins, so that flows do not probe in step: give each flow its own
    /// seed.
    pub seed: Seed,
}

/// Treatment of old bandwidth samples while newer ones are app-limited and lower.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Ageing {
    /// They are dropped only by the next accepted sample, as the filters of the draft and Linux are written.
    WithSamples,
    /// They are dropped after ten rounds, regardless of later samples; after that, any lower sample is accepted
    /// (specs/bbr.md 6 on v1).
    EveryRound,
    /// Rounds with only app-limited samples are not counted (the rule of specs/bbr.md 6) unless the last round was bad.
    Frozen(BadRound),
}

/// When a round counts as bad: after it, lower samples are accepted even if they are app-limited.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct BadRound {
    /// More than this share of its bytes was lost (0.1), or ...
    pub loss: f64,
    /// ... its min round trip was longer than this many RTprop (1.5).
    pub round_trip: f64,
}

impl Default for BadRound {
    fn default() -> BadRound {
        BadRound { loss: 0.1, round_trip: 1.5 }
    }
}

/// When and how RTprop is measured again.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct ProbeRtt {
    /// RTpropFilterLen: after this long without a sample as low as RTprop (10 s; v3: 5 s).
    pub after: Span,
    /// ProbeRTTDuration: the min time at the reduced bytes in flight (200 ms).
    pub lasting: Span,
    /// The limit on bytes in flight.
    pub window: ProbeRttWindow,
    /// A sample up to this many times RTprop confirms RTprop while the application limits the sender: 1 as published;
    /// 1.02 in specs/bbr.md 6, so that video, which leaves the queue empty by itself, is not interrupted.
    pub confirmed_within: f64,
    /// The wait for bytes in flight to fall ends after this many rounds, for senders that ignore the window; `None`
    /// waits forever, as published.
    #[cfg_attr(feature = "serde", serde(default))]
    pub timeout: Option<u64>,
}

/// The limit on bytes in flight in PROBE_RTT.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum ProbeRttWindow {
    /// [`Config::min_window`]: v1.
    Min,
    /// This share of the BDP (v3: 0.5), and no less than [`Config::min_window`]; the encoder's target is cut to it as
    /// well.
    Share(f64),
}

/// When padding is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Padding {
    /// Never: v1 has no padding.
    Never,
    /// Until the pipe is full for the first time.
    Startup,
    /// As `Startup`, and also in each phase that probes for more (specs/bbr.md 6).
    Probing,
}

impl Default for ProbeRtt {
    fn default() -> ProbeRtt {
        ProbeRtt {
            after: Span::from_secs(10),
            lasting: Span::from_millis(200),
            window: ProbeRttWindow::Min,
            confirmed_within: 1.0,
            timeout: None,
        }
    }
}

impl Default for Config {
    fn default() -> Config {
        Config {
            high_gain: 2.885,
            cycle: [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
            cwnd_gain: 2.0,
            pacing_margin: 1.0,
            bandwidth_rounds: 10,
            marks_limited: true,
            ageing: Ageing::WithSamples,
            full_pipe_growth: 1.25,
            full_pipe_rounds: 3,
            probe_rtt: ProbeRtt::default(),
            initial_window: MSS * 10,
            min_window: MSS * 4,
            window_after_feedback_timeout: MSS,
            srtt_before_samples: Span::from_millis(1),
            padding: Padding::Never,
            target_share: 0.95,
            start: Rate::from_kbps(300),
            min_rate: Rate::from_kbps(30),
            max_rate: Rate::from_kbps(10_000_000),
            seed: Seed::new(0),
        }
    }
}

impl Config {
    /// BBR as in the Camel paper, which does not state its variant: libwebrtc's BBR, which video senders used
    /// (modules/congestion_controller/bbr, 2018 to 2019). Padding supplements the media in STARTUP and in phases that
    /// probe for more, the encoder gets the whole estimate, and samples limited by media count like others.
    pub fn of_camel() -> Config {
        Config { marks_limited: false, padding: Padding::Probing, target_share: 1.0, ..Config::default() }
    }

    /// The real-time variant of specs/bbr.md 6: the estimate does not age while media limit the sender, padding probes
    /// for more, and PROBE_RTT halves the flow instead of stopping it.
    pub fn for_media() -> Config {
        Config {
            ageing: Ageing::Frozen(BadRound::default()),
            padding: Padding::Probing,
            probe_rtt: ProbeRtt {
                window: ProbeRttWindow::Share(0.5),
                confirmed_within: 1.02,
                timeout: Some(2),
                ..ProbeRtt::default()
            },
            ..Config::default()
        }
    }

    /// Checks that every parameter is in range.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check("bbr.high_gain", self.high_gain).within(1.1..=10.0, "the default")?;
        check("bbr.cwnd_gain", self.cwnd_gain).within(1.0..=10.0, "the default")?;
        check("bbr.pacing_margin", self.pacing_margin).within(0.5..=1.0, "the default")?;
        check("bbr.full_pipe_growth", self.full_pipe_growth).within(1.01..=2.0, "the default")?;
        check("bbr.target_share", self.target_share).within(0.1..=1.5, "the default")?;
        check("bbr.probe_rtt.confirmed_within", self.probe_rtt.confirmed_within).within(1.0..=2.0, "the default")?;
        for gain in self.cycle {
            check("a gain of bbr.cycle", gain).within(0.1..=3.0, "the default")?;
        }
        if let ProbeRttWindow::Share(share) = self.probe_rtt.window {
            check("bbr.probe_rtt.window", share).within(0.05..=1.0, "the default")?;
        }
        if let Ageing::Frozen(bad) = self.ageing {
            check("bbr.ageing.frozen.loss", bad.loss).within(0.0..=1.0, "the default")?;
            check("bbr.ageing.frozen.round_trip", bad.round_trip).within(1.0..=100.0, "the default")?;
        }
        check("bbr rounds", format_args!("bandwidth {}, full pipe {}", self.bandwidth_rounds, self.full_pipe_rounds))
            .is(self.bandwidth_rounds != 0 && self.full_pipe_rounds != 0, "1 or more, such as 10 and 3")?;
        check(
            "bbr windows",
            format_args!(
                "min {}, initial {}, after a feedback timeout {}",
                self.min_window, self.initial_window, self.window_after_feedback_timeout
            ),
        )
        .is(
            self.window_after_feedback_timeout >= MSS
                && self.min_window >= MSS
                && self.initial_window >= self.min_window,
            "1500B or more, min_window <= initial_window",
        )?;
        let ProbeRtt { after, lasting, .. } = self.probe_rtt;
        check(
            "bbr times",
            format_args!(
                "srtt_before_samples {}, probe_rtt.lasting {lasting}, probe_rtt.after {after}",
                self.srtt_before_samples
            ),
        )
        .is(
            self.srtt_before_samples > Span::ZERO && lasting > Span::ZERO && after > lasting,
            "longer than 0, lasting shorter than after",
        )?;
        check("bbr rates", format_args!("min {}, start {}, max {}", self.min_rate, self.start, self.max_rate)).is(
            self.min_rate != Rate::ZERO && self.start >= self.min_rate && self.max_rate >= self.start,
            "0 < min_rate <= start <= max_rate",
        )?;
        Ok(())
    }
}
