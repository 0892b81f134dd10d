//! BBR's parameters.

use thalweg_units::{Bytes, ConfigError, Rate, Seed, Span, check};

use crate::packet::MSS;

/// BBR v1's parameters as published (draft-cardwell-iccrg-bbr-congestion-control-00), by specs/bbr.md. That is BBR for bulk
/// transfers: of media alone it never learns what the path bears. [`Config::of_camel`] and [`Config::for_media`] fill
/// the path whenever they ask for more.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// BBRHighGain: pacing and window gain of STARTUP, and 1 / pacing gain of DRAIN (2 / ln 2 = 2.885: doubles in a
    /// round trip).
    pub high_gain: f64,
    /// Pacing gains of PROBE_BW, a phase each (1.25, 0.75 and six times 1).
    pub cycle: [f64; 8],
    /// cwnd_gain of PROBE_BW: twice the BDP.
    pub cwnd_gain: f64,
    /// The whole pacing rate times this; Linux leaves 0.01 unused, the draft nothing.
    pub pacing_margin: f64,
    /// BtlBwFilterLen, in round trips (10).
    pub bandwidth_rounds: u64,
    /// Whether samples that the application limited are distinguished, as the draft and Linux do. libwebrtc's BBR has the
    /// rule and nobody who calls it (`OnApplicationLimited`): every sample counts there but those of PROBE_RTT.
    pub marks_limited: bool,
    /// How the estimate ages while the application limits the sender.
    pub ageing: Ageing,
    /// The pipe is full once BtlBw has grown by less than this factor (1.25) ...
    pub full_pipe_growth: f64,
    /// ... in so many rounds in a row (3).
    pub full_pipe_rounds: u32,
    /// Finding the least round trip anew.
    pub probe_rtt: ProbeRtt,
    /// InitialCwnd (ten packets).
    pub initial_window: Bytes,
    /// BBRMinPipeCwnd (four packets).
    pub min_window: Bytes,
    /// The window after a feedback timeout, until something sent later has arrived (one packet; mvfst: four).
    pub window_after_feedback_timeout: Bytes,
    /// The round trip taken for pacing the first window before one is known (1 ms, which is as good as no pacing).
    pub srtt_before_samples: Span,
    /// When padding is asked for, so that the path is full when there is not enough media.
    pub padding: Padding,
    /// The encoder's target as a share of BtlBw (specs/bbr.md 6: 0.95).
    pub target_share: f64,
    /// The encoder's target before there is an estimate (that of WebRTC: 300 kbps).
    pub start: Rate,
    /// The pacing rate is kept at or above this, the filter is not ...
    pub min_rate: Rate,
    /// ... and at or below this.
    pub max_rate: Rate,
    /// Where PROBE_BW begins in its cycle is random, so that flows do not probe in step: give each flow its own seed.
    pub seed: Seed,
}

/// What happens to old samples of the bandwidth while newer ones are limited by the application and lower.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Ageing {
    /// They are forgotten only by the next sample that counts, as the draft's and Linux's filters are written.
    WithSamples,
    /// They are forgotten after ten rounds, whatever came since; then a lower sample is larger than none (specs/bbr.md 6
    /// on v1).
    EveryRound,
    /// Rounds of nothing but limited samples are not counted (the rule of specs/bbr.md 6) unless the last round was
    /// bad.
    Frozen(BadRound),
}

/// A round after which lower samples count even if the application limited them.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct BadRound {
    /// More than this share of its bytes was lost (0.1), or ...
    pub loss: f64,
    /// ... its least round trip was longer than this many RTprop (1.5).
    pub round_trip: f64,
}

impl Default for BadRound {
    fn default() -> BadRound {
        BadRound { loss: 0.1, round_trip: 1.5 }
    }
}

/// When and how the least round trip is looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct ProbeRtt {
    /// RTpropFilterLen: after so long without a sample as low as RTprop (10 s; v3: 5 s).
    pub after: Span,
    /// ProbeRTTDuration: the least time with little in flight (200 ms).
    pub lasting: Span,
    /// How much that is.
    pub window: ProbeRttWindow,
    /// A sample up to this many RTprop confirms RTprop while the application limits the sender: 1 as published; 1.02 in
    /// specs/bbr.md 6, so that video, which leaves the queue empty by itself, is not stopped for it.
    pub confirmed_within: f64,
    /// Waiting for little to be in flight ends after so many rounds, for senders that do not heed the window; `None`
    /// waits for ever, as published.
    #[cfg_attr(feature = "serde", serde(default))]
    pub timeout: Option<u64>,
}

/// How much may be in flight in PROBE_RTT.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum ProbeRttWindow {
    /// [`Config::min_window`]: v1.
    Min,
    /// This share of the BDP (v3: 0.5), and no less than [`Config::min_window`]; the encoder's target is cut to it as
    /// well.
    Share(f64),
}

/// When padding is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Padding {
    /// Never: v1 knows no padding.
    Never,
    /// Until the pipe was full once.
    Startup,
    /// Then, and in each phase that probes for more (specs/bbr.md 6).
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
    /// BBR as the Camel paper shows it, which does not say what its BBR does: libwebrtc's, the one that senders of video
    /// had (modules/congestion_controller/bbr, 2018 to 2019). Padding follows the media in STARTUP and in phases that
    /// probe for more, the encoder gets the whole estimate, and samples that media limited count like others.
    pub fn of_camel() -> Config {
        Config { marks_limited: false, padding: Padding::Probing, target_share: 1.0, ..Config::default() }
    }

    /// The real-time variant of specs/bbr.md 6: the estimate does not age while media limit the sender, padding probes
    /// for more, and looking for the least round trip halves the flow instead of stopping it.
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

    /// That every parameter is in range.
    ///
    /// # Errors
    /// When one is not.
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
