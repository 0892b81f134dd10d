//! Whole systems as compositions of the same parts: one short file for each.

mod camel;
mod copa;
mod gcc;
mod peers;
mod rebera;
mod rtcp;
mod salsify;
mod vidaptive;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use thalweg_control::Controller;
use thalweg_units::{ConfigError, Size};

use crate::filler::useful::{self, Kind};
use crate::frames::rate_targeted::{self, EncoderBounds, Reserve};
use crate::frames::{FramePolicy, late_choice, selection};
use crate::packet::PacketSizes;
use crate::repair::parity::Code;
use crate::{filler, pacing, repair};

/// Which congestion controller, with its parameters.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum ControllerConfig {
    /// A rate that never changes.
    Fixed(thalweg_control::fixed::Config),
    /// Copa.
    Copa(thalweg_control::copa::Config),
    /// RoCC.
    Rocc(thalweg_control::rocc::Config),
    /// WebRTC's.
    Gcc(thalweg_control::gcc::Config),
    /// BBR.
    Bbr(thalweg_control::bbr::Config),
    /// SCReAM v2.
    Scream(thalweg_control::scream::Config),
    /// NADA.
    Nada(thalweg_control::nada::Config),
    /// SQP.
    Sqp(thalweg_control::sqp::Config),
    /// Pudica.
    Pudica(thalweg_control::pudica::Config),
    /// Camel.
    Camel(thalweg_control::camel::Config),
    /// FBRA, whose probes are parity packets.
    Fbra(thalweg_control::fbra::Config),
    /// Google's of 2012 to 2014, with its estimate at the receiver.
    Rrtcc(thalweg_control::rrtcc::Config),
    /// C-NADU-like: a reading.
    Cnadu(thalweg_control::cnadu::Config),
    /// TFRC.
    Tfrc(thalweg_control::tfrc::Config),
    /// Salsify's, which limits frames.
    Salsify(thalweg_control::salsify::Config),
    /// Rebera's, which plans groups of frames.
    Rebera(thalweg_control::rebera::Config),
}

impl ControllerConfig {
    /// The controller in its starting state.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn build(&self) -> Result<Box<dyn Controller>, ConfigError> {
        use thalweg_control::*;
        Ok(match self {
            ControllerConfig::Fixed(config) => Box::new(fixed::Fixed::new(*config)?),
            ControllerConfig::Copa(config) => Box::new(copa::Copa::new(config.clone())?),
            ControllerConfig::Rocc(config) => Box::new(rocc::Rocc::new(config.clone())?),
            ControllerConfig::Gcc(config) => Box::new(gcc::Gcc::new(config.clone())?),
            ControllerConfig::Bbr(config) => Box::new(bbr::Bbr::new(config.clone())?),
            ControllerConfig::Scream(config) => Box::new(scream::Scream::new(*config)?),
            ControllerConfig::Nada(config) => Box::new(nada::Nada::new(*config)?),
            ControllerConfig::Sqp(config) => Box::new(sqp::Sqp::new(*config)?),
            ControllerConfig::Pudica(config) => Box::new(pudica::Pudica::new(*config)?),
            ControllerConfig::Camel(config) => Box::new(camel::Camel::new(config.clone())?),
            ControllerConfig::Fbra(config) => Box::new(fbra::Fbra::new(*config)?),
            ControllerConfig::Rrtcc(config) => Box::new(rrtcc::Rrtcc::new(*config)?),
            ControllerConfig::Cnadu(config) => Box::new(cnadu::Cnadu::new(*config)?),
            ControllerConfig::Tfrc(config) => Box::new(tfrc::Tfrc::new(*config)?),
            ControllerConfig::Salsify(config) => Box::new(salsify::Salsify::new(*config)?),
            ControllerConfig::Rebera(config) => Box::new(rebera::Rebera::new(*config)?),
        })
    }
}

/// Which frame policy, with its parameters.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum FramesConfig {
    /// Every picture at the controller's capacity.
    EveryFrame,
    /// At a target rate, within safeguards.
    RateTargeted(rate_targeted::Config),
    /// Chosen from candidates that a functional codec made.
    LateChoice(late_choice::Config),
    /// Chosen by what they are worth, of a group that has a budget.
    Selection(selection::Config),
}

impl FramesConfig {
    /// The policy for a camera of this size.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn build(&self, source: Size) -> Result<Box<dyn FramePolicy>, ConfigError> {
        Ok(match self {
            FramesConfig::EveryFrame => Box::new(crate::frames::EveryFrame),
            FramesConfig::RateTargeted(config) => Box::new(config.build(source)?),
            FramesConfig::LateChoice(config) => Box::new(config.build()?),
            FramesConfig::Selection(config) => Box::new(config.build(source)?),
        })
    }

    /// What rates the encoder can be asked for, where it is steered by a rate within bounds.
    pub(crate) fn encoder_bounds(&self) -> Option<EncoderBounds> {
        match self {
            FramesConfig::RateTargeted(config) => Some(config.encoder),
            FramesConfig::Selection(config) => Some(config.encoder),
            FramesConfig::EveryFrame | FramesConfig::LateChoice(_) => None,
        }
    }
}

/// What the receiver is asked to report, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum FeedbackStyle {
    /// Each packet at once: what the papers' window controllers assume.
    PerPacket,
    /// Transport-wide feedback as Chromium sends it: every 62 ms (specs/measured.md 1), 250 us ticks.
    Twcc,
    /// Transport-wide feedback when a packet asks for it ([`crate::Packet::asks`]), and 62 ms after one that does not.
    TwccOnRequest,
    /// RFC 8888 every 31 ms (specs/measured.md 1), 1/1024 s ticks with hold times.
    Ccfb,
    /// RTCP extended reports (RFC 3611, RFC 7097, RFC 7243) beside receiver reports every 200 ms or two round trips, whichever is longer,
    /// and early when something is lost or came too late to be played, in one interval of two at most (RFC 4585): FBRA's. 1/90,000 s ticks.
    Extended,
}

/// What the receiver does with frames.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum ReceiverKind {
    /// Decodes what is whole and refers to what it has, asks for what is missing and for keyframes: any receiver of today.
    #[default]
    Ordinary,
    /// As an ordinary one, and measures the path by the trains that frames leave as, which it tells of (Rebera).
    Measures(thalweg_control::rebera::MeasurementConfig),
    /// Keeps its decoder's states under their hashes, goes back to them when a frame says so, and tells them with each report
    /// (Salsify section 3.2).
    KeepsStates(KeptAtReceiver),
}

/// How a receiver that keeps states deals with what is missing.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct KeptAtReceiver {
    /// How times between arrivals are averaged.
    pub smoothing: thalweg_control::salsify::Smoothing,
    /// Which pauses of the sender are taken off the time between arrivals: what the sender writes into its packets.
    pub grace: thalweg_control::salsify::Grace,
    /// Decode what came of a frame when the next begins, and whole frames although the state they are meant for is missing, as the
    /// authors' receiver does: the picture moves on, damaged. Otherwise only frames that decode exactly are shown.
    pub shows_damage: bool,
    /// The most states kept.
    pub most_states: usize,
}

impl Default for KeptAtReceiver {
    fn default() -> KeptAtReceiver {
        KeptAtReceiver { smoothing: Default::default(), grace: Default::default(), shows_damage: true, most_states: 64 }
    }
}

/// A whole sender: one row of the table of published systems, or a new one. An ablation is one field changed.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Scheme {
    /// What it is called.
    pub name: String,
    /// What the network can bear.
    pub controller: ControllerConfig,
    /// When packets leave.
    pub pacing: pacing::Config,
    /// What keeps the path full; `None` sends media only.
    pub filler: Option<filler::Config>,
    /// What filler is made of, that of `filler` and what the controller probes with; `None` of nothing.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub fill_with: Option<filler::useful::Config>,
    /// Which frames, and how large.
    pub frames: FramesConfig,
    /// Repeating what was lost; `None` never repeats.
    pub repair: Option<repair::Config>,
    /// What the receiver reports.
    pub feedback: FeedbackStyle,
    /// What the receiver does with frames.
    #[cfg_attr(feature = "serde", serde(default))]
    pub receiver: ReceiverKind,
    /// How large packets are.
    pub packets: PacketSizes,
}

impl Scheme {
    /// The same with this kept back of what the encoder is aimed at, where it is aimed at a rate.
    fn reserving(mut self, reserve: Reserve) -> Scheme {
        if let FramesConfig::RateTargeted(frames) = &mut self.frames {
            frames.reserve = Some(reserve);
        }
        self
    }

    /// Whether it takes a functional codec, which makes several frames of a picture and can go back.
    pub fn needs_candidates(&self) -> bool {
        matches!(self.frames, FramesConfig::LateChoice(_))
    }
}

/// A scheme by its name, as the command line knows it.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// The name.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    make: fn() -> Scheme,
}

impl Known {
    /// The scheme with its published parameters.
    pub fn scheme(&self) -> Scheme {
        let mut scheme = (self.make)();
        scheme.name = self.name.into();
        scheme
    }
}

/// Every scheme there is.
pub fn known() -> &'static [Known] {
    &[
        Known { name: "gcc", about: "WebRTC today: GCC, paced, target = estimate", make: gcc::webrtc },
        Known {
            name: "copa",
            about: "Vidaptive's first ablation: Copa alone, nothing fills the path",
            make: copa::alone,
        },
        Known { name: "copa+dummy", about: "and dummies that keep it backlogged", make: copa::with_dummies },
        Known {
            name: "copa+dummy+latency",
            about: "and encoder pause and reset",
            make: copa::with_dummies_and_safeguards,
        },
        Known { name: "vidaptive", about: "Vidaptive over Copa (delta 0.9): all of it", make: vidaptive::over_copa },
        Known { name: "vidaptive:rocc", about: "Vidaptive over RoCC (gamma 0.5)", make: vidaptive::over_rocc },
        Known {
            name: "vidaptive+fec",
            about: "Vidaptive with parity where it sends dummies",
            make: vidaptive::filled_with_parity,
        },
        Known {
            name: "vidaptive+best",
            about: "with what the receiver could use most: what was lost, parity, a keyframe",
            make: vidaptive::filled_with_the_best,
        },
        Known {
            name: "vidaptive:gcc",
            about: "Vidaptive's frames and dummies over GCC's estimate",
            make: vidaptive::over_gcc,
        },
        Known { name: "scream", about: "SCReAM v2", make: peers::scream },
        Known { name: "nada", about: "NADA (RFC 8698)", make: peers::nada },
        Known { name: "sqp", about: "SQP: each frame a train that samples the path", make: peers::sqp },
        Known { name: "pudica", about: "Pudica: how much of its interval each frame needs", make: peers::pudica },
        Known { name: "bbr", about: "BBR v1, as Camel's authors measured it", make: peers::bbr },
        Known { name: "bbr:media", about: "BBR v1 with rules for media", make: peers::bbr_for_media },
        Known { name: "fbra", about: "FBRA: probes the path with parity packets", make: rtcp::fbra },
        Known {
            name: "fbra:xr",
            about: "FBRA told by RTCP extended reports at its own intervals, as in its paper",
            make: rtcp::fbra_extended,
        },
        Known {
            name: "rrtcc",
            about: "RRTCC: Google's of 2012 to 2014, frames through a Kalman filter",
            make: rtcp::rrtcc,
        },
        Known {
            name: "cnadu",
            about: "C-NADU-like: between a TCP's rate and the receiver's (a reading)",
            make: rtcp::cnadu,
        },
        Known { name: "tfrc", about: "TFRC (RFC 5348): what a TCP would send", make: rtcp::tfrc },
        Known {
            name: "camel",
            about: "Camel: frames leave in bursts, which show what the path bears; delay against bytes in flight",
            make: camel::camel,
        },
        Known { name: "camel:paper", about: "its equations as printed", make: camel::of_the_paper },
        Known {
            name: "camel:careful",
            about: "with bursts shortened at 2 % of loss instead of 10 %",
            make: camel::careful,
        },
        Known { name: "camel:fixed-burst", about: "with bursts of 20 KB whatever they lose", make: camel::fixed_burst },
        Known {
            name: "rebera",
            about: "Rebera: a budget for each group of frames by forecast, spent on those worth most; the receiver measures",
            make: rebera::rebera,
        },
        Known {
            name: "rebera:sender",
            about: "Rebera measured at the sender, from arrivals that any receiver tells of",
            make: rebera::measured_at_sender,
        },
        Known {
            name: "rebera:absolute",
            about: "Rebera with the errors of its forecasts in bit/s",
            make: rebera::with_absolute_errors,
        },
        Known {
            name: "rebera:unspent",
            about: "Rebera where later frames may spend what earlier ones of their group left",
            make: rebera::spending_what_is_left,
        },
        Known {
            name: "rebera+fec",
            about: "Rebera with parity for what others refer to, the more the more do, and repeats",
            make: rebera::with_parity,
        },
        Known {
            name: "rebera:paper",
            about: "to the letter: all that is under way is taken off, and what comes too fast says nothing",
            make: rebera::of_the_paper,
        },
        Known {
            name: "salsify",
            about: "Salsify: two candidates on two cores, the one that fits sent, or none; recovery from kept states",
            make: salsify::two_cores,
        },
        Known { name: "salsify-1c", about: "with one core: one candidate after the other", make: salsify::one_core },
        Known { name: "salsify-2c", about: "with two: the same as salsify", make: salsify::two_cores },
        Known {
            name: "salsify:paper",
            about: "to the letter, without what this project mended for sixty pictures a second",
            make: salsify::of_the_paper,
        },
        Known { name: "salsify:no-grace", about: "without grace periods", make: salsify::no_grace },
        Known {
            name: "salsify:conventional-codec",
            about: "with a codec that codes once, at a guessed quantiser, and cannot go back",
            make: salsify::conventional_codec,
        },
        Known {
            name: "salsify:conventional-transport-and-codec",
            about: "and a quantiser that changes once a second",
            make: salsify::conventional_transport_and_codec,
        },
        Known {
            name: "salsify:standard-decoder",
            about: "recovery from golden and altref frames: any VP8 receiver can follow",
            make: salsify::standard_decoder,
        },
        Known {
            name: "vidaptive+functional",
            about: "Vidaptive on the wire, its frames chosen to fit instead of paused",
            make: salsify::under_vidaptive,
        },
    ]
}

/// What may follow a scheme's name, and what its filler is made of then.
const FILLED_WITH: [(&str, Kind, Code); 6] = [
    ("+fec", Kind::Fec, Code::Sum),
    ("+rs", Kind::Fec, Code::Block),
    ("+rtx", Kind::Rtx, Code::Sum),
    ("+keyframe", Kind::Keyframe, Code::Sum),
    ("+best", Kind::Best, Code::Sum),
    ("+best-rs", Kind::Best, Code::Block),
];

/// Makes another scheme of one, where it can.
type Change = fn(Scheme) -> Option<Scheme>;

/// What may follow the name of a scheme whose encoder is aimed at a rate.
const AIMED: [(&str, Change); 2] = [
    // Its frames are made in temporal layers, and those of each second worth most are sent ([`selection`]).
    ("+layers", rebera::layered),
    // It is aimed at what that is forecast to become ([`crate::frames::foresight`]).
    ("+forecast", rebera::foreseeing),
];

/// No scheme has this name; the message lists those that are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownScheme(String);

impl core::fmt::Display for UnknownScheme {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let names: Vec<&str> = known().iter().map(|known| known.name).collect();
        let filled = FILLED_WITH.map(|(suffix, ..)| suffix);
        let aimed = AIMED.map(|(suffix, _)| suffix);
        let (names, filled, aimed) = (names.join(", "), filled.join(", "), aimed.join(" or "));
        write!(
            f,
            "'{}' is no scheme: choose from {names}, with {filled} behind it for useful filler, or, where its encoder is aimed at a rate, \
             {aimed}",
            self.0
        )
    }
}

impl core::error::Error for UnknownScheme {}

impl core::str::FromStr for Scheme {
    type Err = UnknownScheme;
    fn from_str(name: &str) -> Result<Scheme, UnknownScheme> {
        let find = |name: &str| known().iter().find(|known| known.name == name).map(Known::scheme);
        let filled = || {
            let fits = |(suffix, kind, code): &(&str, Kind, Code)| Some((name.strip_suffix(suffix)?, *kind, *code));
            let (base, kind, code) = FILLED_WITH.iter().find_map(fits)?;
            let fill_with = useful::Config { kind, code, ..useful::Config::default() };
            Some(Scheme { name: name.into(), fill_with: Some(fill_with), ..find(base)? })
        };
        let aimed = || {
            let fits = |(suffix, change): &(&str, Change)| change(find(name.strip_suffix(suffix)?)?);
            Some(Scheme { name: name.into(), ..AIMED.iter().find_map(fits)? })
        };
        find(name).or_else(filled).or_else(aimed).ok_or_else(|| UnknownScheme(name.into()))
    }
}
