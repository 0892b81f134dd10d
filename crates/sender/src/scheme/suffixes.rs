//! Suffixes that may follow a scheme's name, and what they change.

use thalweg_control::ecn::{self, CapConfig, ClassicConfig};
use thalweg_units::Span;

use super::{ControllerConfig, FeedbackStyle, Scheme, rebera};
use crate::pacing;
use crate::padding::redundant::{self, Kind};

/// Turns one scheme into another, as `gcc+fec` is `gcc` with FEC as its padding.
#[derive(Debug, Clone, Copy)]
pub struct Suffix {
    /// The suffix itself.
    pub name: &'static str,
    /// Effect, and the schemes that it fits, in one line.
    pub about: &'static str,
    change: fn(Scheme) -> Option<Scheme>,
}

impl Suffix {
    /// The changed scheme; `None` if this suffix does not apply to it.
    pub fn change(&self, scheme: Scheme) -> Option<Scheme> {
        (self.change)(scheme)
    }
}

/// All suffixes.
pub fn suffixes() -> &'static [Suffix] {
    &[
        Suffix {
            name: "+fec",
            about: "any scheme: padding carries XOR FEC",
            change: |scheme| padded(scheme, Kind::Fec),
        },
        Suffix {
            name: "+rtx",
            about: "any scheme: padding carries retransmissions",
            change: |scheme| padded(scheme, Kind::Rtx),
        },
        Suffix {
            name: "+keyframe",
            about: "any scheme: the rate of padding pays for early keyframes",
            change: |scheme| padded(scheme, Kind::Keyframe),
        },
        Suffix {
            name: "+best",
            about: "any scheme: padding carries whatever helps the receiver most",
            change: |scheme| padded(scheme, Kind::Best),
        },
        Suffix {
            name: "+layers",
            about: "schemes with a target rate: temporal layers, of which the most useful frames are sent",
            change: rebera::layered,
        },
        Suffix {
            name: "+forecast",
            about: "schemes with a target rate: the encoder gets the forecast of the target",
            change: rebera::forecasting,
        },
        Suffix {
            name: "+l4s",
            about: "any scheme with RFC 8888 or ideal reports: sends ECT(1), and lowers its rate when queues mark",
            change: |scheme| Some(low_latency(scheme)),
        },
        Suffix {
            name: "+l4s+classic",
            about: "as +l4s, with a classic answer where the marking queue is a classic one",
            change: |scheme| noticing_classic(low_latency(scheme)),
        },
    ]
}

/// A frame that SCReAM's encoder made for a rate which marks have taken since leaves within this time: at 1.1 times a target that fell to a
/// tenth it would wait for a second. On cellular links `scream+l4s` has three quarters of the P95 that it has without; a steady link shows
/// no difference, as a frame takes 30 ms there (docs/l4s.md). Not for controllers under a cap: their frames wait because the cap falls,
/// and bursts that are marked lower it further (`bbr+l4s` had half of the bits).
const DRAIN_WITHIN: Span = Span::from_millis(150);

/// SCReAM answers marks itself; any other controller gets a cap.
fn low_latency(mut scheme: Scheme) -> Scheme {
    // What leaves at once waits at once: a queue of a millisecond marks all but the first packets of a burst.
    let paced = |drain_within| pacing::Config { burst: Span::ZERO, drain_within, ..scheme.pacing };
    let pacing = match scheme.controller {
        ControllerConfig::ScreamLibwebrtc(_) => scheme.pacing,
        ControllerConfig::Scream(_) => paced(Some(DRAIN_WITHIN)),
        _ => paced(None),
    };
    let cap = match &mut scheme.controller {
        ControllerConfig::Scream(scream) => {
            scream.l4s.get_or_insert_default();
            None
        }
        ControllerConfig::ScreamLibwebrtc(_) => None,
        controller => Some(CapConfig { answers_losses: ignores_losses(controller), ..CapConfig::default() }),
    };
    let feedback = match scheme.feedback {
        style if style.carries_ecn() => style,
        FeedbackStyle::TwccOnRequest => FeedbackStyle::CcfbOnRequest,
        _ => FeedbackStyle::Ccfb,
    };
    Scheme { pacing, feedback, ecn: Some(ecn::Config { cap, ..ecn::Config::default() }), ..scheme }
}

/// libwebrtc's SCReAM has no such answer.
fn noticing_classic(mut scheme: Scheme) -> Option<Scheme> {
    let classic = match (&mut scheme.controller, &mut scheme.ecn) {
        (ControllerConfig::Scream(scream), _) => &mut scream.l4s.as_mut()?.classic,
        (_, Some(ecn::Config { cap: Some(cap), .. })) => &mut cap.classic,
        _ => return None,
    };
    *classic = Some(ClassicConfig::default());
    Some(scheme)
}

/// Returns true if losses alone do not lower its rate.
fn ignores_losses(controller: &ControllerConfig) -> bool {
    matches!(
        controller,
        ControllerConfig::Fixed(_)
            | ControllerConfig::Copa(_)
            | ControllerConfig::Rocc(_)
            | ControllerConfig::Bbr(_)
            | ControllerConfig::Sqp(_)
            | ControllerConfig::Camel(_)
            | ControllerConfig::Salsify(_)
    )
}

fn padded(scheme: Scheme, kind: Kind) -> Option<Scheme> {
    Some(Scheme { padding_content: Some(redundant::Config::of(kind)), ..scheme })
}
