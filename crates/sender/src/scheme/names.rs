//! The names of all schemes.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use thalweg_units::did_you_mean;

use super::{Scheme, camel, copa, gcc, peers, rebera, rtcp, salsify, suffixes, thalweg, vidaptive};

/// A scheme and its name on the command line.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// The name.
    pub name: &'static str,
    /// What it is, in one line.
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
            name: "vidaptive:resolution-by-quantizer",
            about: "with more lines while the quantiser is fine, whatever alpha is",
            make: vidaptive::resolution_by_quantizer,
        },
        Known {
            name: "vidaptive:gaps",
            about: "for links that deliver in gaps: Copa's standing round trip over a whole srtt, and a window of at least four packets",
            make: vidaptive::for_gaps,
        },
        Known {
            name: "vidaptive+fec",
            about: "Vidaptive with FEC where it sends dummies",
            make: vidaptive::filled_with_fec,
        },
        Known {
            name: "vidaptive+best",
            about: "with what the receiver could use most: what was lost, FEC, a keyframe",
            make: vidaptive::filled_with_the_best,
        },
        Known {
            name: "vidaptive:gcc",
            about: "Vidaptive's frames and dummies over GCC's estimate",
            make: vidaptive::over_gcc,
        },
        Known { name: "scream", about: "SCReAM v2", make: peers::scream },
        Known {
            name: "scream:libwebrtc",
            about: "SCReAM v2 as libwebrtc has it behind a field trial, with its reports and bursts",
            make: peers::scream_of_libwebrtc,
        },
        Known { name: "nada", about: "NADA (RFC 8698)", make: peers::nada },
        Known { name: "sqp", about: "SQP: each frame a train that samples the path", make: peers::sqp },
        Known { name: "pudica", about: "Pudica: how much of its interval each frame needs", make: peers::pudica },
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
            about: "with report intervals drawn as RTCP does, each report ending one",
            make: rtcp::fbra_randomised,
        },
        Known {
            name: "rrtcc",
            about: "RRTCC: Google's of 2012 to 2014, frames through a Kalman filter",
            make: rtcp::rrtcc,
        },
        Known {
            name: "rrtcc:fec-probes",
            about: "RRTCC that tries each raise with FEC first, as FBRA's paper suggests",
            make: rtcp::rrtcc_with_fec,
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
        Known {
            name: "camel:no-headroom",
            about: "with an encoder that may use the whole estimate",
            make: camel::no_headroom,
        },
        Known {
            name: "camel:burst-sizes",
            about: "with losses compared by burst size, not by offset",
            make: camel::burst_sizes,
        },
        Known { name: "camel:fixed-burst", about: "with bursts of 20 KB whatever they lose", make: camel::fixed_burst },
        Known {
            name: "rebera",
            about: "Rebera: a budget for each group of frames by forecast, spent on those worth most; the receiver measures",
            make: rebera::rebera,
        },
        Known {
            name: "rebera:sender",
            about: "Rebera measured at the sender, from arrivals that any receiver reports",
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
            about: "Rebera with FEC for what others refer to, the more the more do, and retransmissions",
            make: rebera::with_fec,
        },
        Known {
            name: "rebera:paper",
            about: "to the letter: all that is under way is taken off, and what comes too fast says nothing",
            make: rebera::of_the_paper,
        },
        Known {
            name: "rebera:precoded",
            about: "and with video encoded beforehand at 415 kbps, of which frames are left out: the paper's testbed",
            make: rebera::precoded,
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
            about: "to the letter, without what this project mended for sixty frames per second",
            make: salsify::of_the_paper,
        },
        Known {
            name: "salsify:paper-1c",
            about: "the same on one core, one candidate after the other",
            make: salsify::of_the_paper_on_one_core,
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
            name: "thalweg",
            about: "ours: late choice within a budget that hindsight sets (docs/thalweg.md)",
            make: thalweg::thalweg,
        },
        Known {
            name: "thalweg:standard-decoder",
            about: "recovery from golden and altref frames: any VP8 receiver can follow",
            make: thalweg::standard_decoder,
        },
        Known {
            name: "thalweg:conventional",
            about: "the same controller for encoders that are aimed at a rate",
            make: thalweg::conventional,
        },
        Known {
            name: "vidaptive+functional",
            about: "Vidaptive on the wire, its frames chosen to fit instead of paused",
            make: salsify::under_vidaptive,
        },
    ]
}

/// No scheme has this name; the message lists those that exist, and says which are near.
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
        let suffixes: Vec<&str> = suffixes().iter().map(|suffix| suffix.name).collect();
        let (names, suffixes) = (known().collect::<Vec<_>>().join(", "), suffixes.join(", "));
        write!(
            f,
            "unknown scheme '{}': expected one of {names}, with one of {suffixes} behind it where it fits",
            self.name
        )?;
        did_you_mean(&self.name, known()).map_or(Ok(()), |question| write!(f, "; {question}"))
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
