//! The names of all schemes.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use thalweg_units::did_you_mean;

use super::{Scheme, camel, copa, gcc, opponents, peers, rebera, rtcp, salsify, suffixes, thalweg, vidaptive};

/// A scheme and its name on the command line.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// The name.
    pub name: &'static str,
    /// Description in one line.
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

/// Every scheme of this crate.
pub fn known() -> &'static [Known] {
    &[
        Known { name: "gcc", about: "WebRTC today: GCC, paced, target = estimate", make: gcc::webrtc },
        Known {
            name: "gcc:2017",
            about: "WebRTC of Chrome 62, as Salsify met it: paced at 2.5 times, loss by thresholds, no pushback",
            make: gcc::webrtc_of_2017,
        },
        Known {
            name: "gcc:2023",
            about: "WebRTC of May 2023, as Vidaptive met it: paced at 2.5 times, no pushback, little bounded by loss",
            make: gcc::webrtc_of_2023,
        },
        Known {
            name: "gcc:loss",
            about: "WebRTC before receivers that report losses alone: 8 % a second up, down when over a tenth is lost",
            make: gcc::by_loss,
        },
        Known { name: "copa", about: "Copa alone, without dummies: Vidaptive's first ablation", make: copa::alone },
        Known {
            name: "copa+dummy",
            about: "Copa with dummy packets that keep the flow backlogged",
            make: copa::with_dummies,
        },
        Known {
            name: "copa+dummy+latency",
            about: "Copa with dummies, encoder pause and encoder reset",
            make: copa::with_dummies_and_safeguards,
        },
        Known { name: "vidaptive", about: "Vidaptive over Copa (delta 0.9), complete", make: vidaptive::over_copa },
        Known { name: "vidaptive:rocc", about: "Vidaptive over RoCC (gamma 0.5)", make: vidaptive::over_rocc },
        Known {
            name: "vidaptive:resolution-by-quantizer",
            about: "Vidaptive with the resolution set by the quantiser instead of alpha",
            make: vidaptive::resolution_by_quantizer,
        },
        Known {
            name: "vidaptive:gaps",
            about: "Vidaptive for links that deliver in gaps: Copa's standing RTT over a whole srtt, a window of at least 4 packets",
            make: vidaptive::for_gaps,
        },
        Known {
            name: "vidaptive+fec",
            about: "Vidaptive with FEC packets in place of dummies",
            make: vidaptive::filled_with_fec,
        },
        Known {
            name: "vidaptive+best",
            about: "Vidaptive with useful padding in place of dummies: retransmissions, FEC, keyframes",
            make: vidaptive::filled_with_the_best,
        },
        Known { name: "vidaptive:gcc", about: "Vidaptive over GCC's estimate", make: vidaptive::over_gcc },
        Known { name: "scream", about: "SCReAM v2", make: peers::scream },
        Known {
            name: "scream:libwebrtc",
            about: "SCReAM v2 as in libwebrtc (behind a field trial), with its reports and bursts",
            make: peers::scream_of_libwebrtc,
        },
        Known { name: "nada", about: "NADA (RFC 8698)", make: peers::nada },
        Known { name: "sqp", about: "SQP: measures the path with each frame as a packet train", make: peers::sqp },
        Known {
            name: "pudica",
            about: "Pudica: measures the share of its interval that each frame takes on the path",
            make: peers::pudica,
        },
        Known { name: "bbr", about: "BBR v1, as Camel's authors measured it", make: peers::bbr },
        Known { name: "bbr:media", about: "BBR v1 with rules for media", make: peers::bbr_for_media },
        Known { name: "fbra", about: "FBRA: probes the path with FEC packets", make: rtcp::fbra },
        Known {
            name: "fbra:xr",
            about: "FBRA fed by RTCP extended reports at its own intervals, as in its paper",
            make: rtcp::fbra_extended,
        },
        Known {
            name: "fbra:xr-random",
            about: "FBRA with extended reports at RTCP's random intervals, each ending an interval of its own",
            make: rtcp::fbra_randomised,
        },
        Known {
            name: "rrtcc",
            about: "RRTCC: Google's congestion control of 2012 to 2014, with a Kalman filter over frames",
            make: rtcp::rrtcc,
        },
        Known {
            name: "rrtcc:fec-probes",
            about: "RRTCC that probes each increase with FEC, as FBRA's paper suggests",
            make: rtcp::rrtcc_with_fec,
        },
        Known {
            name: "cnadu",
            about: "C-NADU-like: between TCP's rate and the receiver's estimate (our interpretation)",
            make: rtcp::cnadu,
        },
        Known { name: "tfrc", about: "TFRC (RFC 5348): the rate of a TCP flow", make: rtcp::tfrc },
        Known {
            name: "ace-n",
            about: "ACE-N: GCC, a part of each frame at once, as much as the path takes without a queue",
            make: opponents::ace_n,
        },
        Known {
            name: "belabox",
            about: "Belabox: the rate of a bonded SRT stream, by round trip and bytes under way",
            make: opponents::belabox,
        },
        Known {
            name: "openpilot",
            about: "openpilot: one of three rates, by losses that receivers report",
            make: opponents::openpilot,
        },
        Known {
            name: "camel",
            about: "Camel: sends frames in bursts that measure capacity; watches delay against bytes in flight",
            make: camel::camel,
        },
        Known { name: "camel:paper", about: "Camel with its equations as printed", make: camel::of_the_paper },
        Known {
            name: "camel:careful",
            about: "Camel with bursts shortened at 2 % of loss instead of 10 %",
            make: camel::careful,
        },
        Known {
            name: "camel:no-headroom",
            about: "Camel with an encoder that may use the whole estimate",
            make: camel::no_headroom,
        },
        Known {
            name: "camel:burst-sizes",
            about: "Camel with losses compared by burst size, not by offset",
            make: camel::burst_sizes,
        },
        Known { name: "camel:fixed-burst", about: "Camel with bursts of 20 KB at any loss", make: camel::fixed_burst },
        Known {
            name: "rebera",
            about: "Rebera: forecasts a budget for each group of frames and spends it on the most useful; measured at the receiver",
            make: rebera::rebera,
        },
        Known {
            name: "rebera:sender",
            about: "Rebera measured at the sender, from any receiver's arrival reports",
            make: rebera::measured_at_sender,
        },
        Known {
            name: "rebera:absolute",
            about: "Rebera with forecast errors in bit/s",
            make: rebera::with_absolute_errors,
        },
        Known {
            name: "rebera:unspent",
            about: "Rebera with the unspent budget left to later frames of the group",
            make: rebera::spending_what_is_left,
        },
        Known {
            name: "rebera+fec",
            about: "Rebera with retransmissions and FEC in proportion to how many frames refer to a frame",
            make: rebera::with_fec,
        },
        Known {
            name: "rebera:paper",
            about: "Rebera to the letter: subtracts all bytes in flight, and ignores samples that arrive too fast",
            make: rebera::of_the_paper,
        },
        Known {
            name: "rebera:precoded",
            about: "Rebera to the letter with video encoded in advance at 415 kbps, as in the paper's testbed",
            make: rebera::precoded,
        },
        Known {
            name: "salsify",
            about: "Salsify: encodes two candidates on two cores, sends the one that fits or none; recovers from kept states",
            make: salsify::two_cores,
        },
        Known {
            name: "salsify-1c",
            about: "Salsify on one core: one candidate after the other",
            make: salsify::one_core,
        },
        Known { name: "salsify-2c", about: "Salsify on two cores: the same as salsify", make: salsify::two_cores },
        Known {
            name: "salsify:paper",
            about: "Salsify to the letter, without this project's fixes for 60 frames per second",
            make: salsify::of_the_paper,
        },
        Known {
            name: "salsify:paper-1c",
            about: "Salsify to the letter on one core",
            make: salsify::of_the_paper_on_one_core,
        },
        Known { name: "salsify:no-grace", about: "Salsify without grace periods", make: salsify::no_grace },
        Known {
            name: "salsify:conventional-codec",
            about: "Salsify with a conventional codec: one encode at a predicted quantiser, no earlier states",
            make: salsify::conventional_codec,
        },
        Known {
            name: "salsify:conventional-transport-and-codec",
            about: "Salsify with a conventional codec whose quantiser changes once a second",
            make: salsify::conventional_transport_and_codec,
        },
        Known {
            name: "salsify:standard-decoder",
            about: "Salsify with recovery from golden and altref frames, for any VP8 receiver",
            make: salsify::standard_decoder,
        },
        Known {
            name: "thalweg",
            about: "our own: late choice of frames within a budget learned from past queueing (docs/thalweg.md)",
            make: thalweg::thalweg,
        },
        Known {
            name: "thalweg:standard-decoder",
            about: "our own with recovery from golden and altref frames, for any VP8 receiver",
            make: thalweg::standard_decoder,
        },
        Known {
            name: "thalweg:conventional",
            about: "our controller for conventional encoders with a target rate",
            make: thalweg::conventional,
        },
        Known {
            name: "vidaptive+functional",
            about: "Vidaptive with a functional encoder: frames chosen to fit instead of pauses",
            make: salsify::under_vidaptive,
        },
    ]
}

/// No scheme has this name; the message says which are near, or lists those that exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownScheme {
    name: String,
    /// Names besides this crate's.
    others: Vec<String>,
}

impl UnknownScheme {
    /// The error for `name`, where `others` are known besides this crate's.
    pub fn new<'a>(name: &str, others: impl IntoIterator<Item = &'a str>) -> UnknownScheme {
        UnknownScheme { name: name.into(), others: others.into_iter().map(String::from).collect() }
    }

    /// The same where these names are known too.
    pub fn beside<'a>(mut self, others: impl IntoIterator<Item = &'a str>) -> UnknownScheme {
        self.others.extend(others.into_iter().map(String::from));
        self
    }
}

impl fmt::Display for UnknownScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = || self.others.iter().map(String::as_str).chain(known().iter().map(|known| known.name));
        write!(f, "unknown scheme '{}': ", self.name)?;
        if let Some(question) = did_you_mean(&self.name, known()) {
            return f.write_str(&question);
        }
        let suffixes: Vec<&str> = suffixes().iter().map(|suffix| suffix.name).collect();
        let (names, suffixes) = (known().collect::<Vec<_>>().join(", "), suffixes.join(", "));
        write!(f, "expected one of {names}, optionally with a suffix that fits it ({suffixes})")
    }
}

impl core::error::Error for UnknownScheme {}

impl FromStr for Scheme {
    type Err = UnknownScheme;

    /// Names are in lower case; one is found also where it is written in capitals, as papers write theirs.
    fn from_str(name: &str) -> Result<Scheme, UnknownScheme> {
        let lower = name.to_ascii_lowercase();
        let find = |name: &str| known().iter().find(|known| known.name == name).map(Known::scheme);
        let suffixed = || {
            let changed =
                suffixes().iter().find_map(|suffix| suffix.change(find(lower.strip_suffix(suffix.name)?)?))?;
            Some(Scheme { name: lower.clone(), ..changed })
        };
        find(&lower).or_else(suffixed).ok_or_else(|| UnknownScheme::new(name, []))
    }
}
