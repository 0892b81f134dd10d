//! Suffixes that may follow a scheme's name, and what they change.

use super::{Scheme, rebera};
use crate::padding::redundant::{self, Kind};

/// Turns one scheme into another, as `gcc+fec` is `gcc` with FEC as its padding.
#[derive(Debug, Clone, Copy)]
pub struct Suffix {
    /// The suffix itself.
    pub name: &'static str,
    /// What it changes, and for which schemes, in one line.
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
            about: "any scheme: what it pads with is XOR FEC",
            change: |scheme| padded(scheme, Kind::Fec),
        },
        Suffix {
            name: "+rtx",
            about: "any scheme: what it pads with is retransmissions",
            change: |scheme| padded(scheme, Kind::Rtx),
        },
        Suffix {
            name: "+keyframe",
            about: "any scheme: what it would pad with pays for early keyframes",
            change: |scheme| padded(scheme, Kind::Keyframe),
        },
        Suffix {
            name: "+best",
            about: "any scheme: it pads with what the receiver could use most",
            change: |scheme| padded(scheme, Kind::Best),
        },
        Suffix {
            name: "+layers",
            about: "schemes whose encoder is aimed at a rate: temporal layers, and those frames sent that are worth most",
            change: rebera::layered,
        },
        Suffix {
            name: "+forecast",
            about: "schemes whose encoder is aimed at a rate: it is aimed at what that is forecast to become",
            change: rebera::forecasting,
        },
    ]
}

fn padded(scheme: Scheme, kind: Kind) -> Option<Scheme> {
    Some(Scheme { padding_content: Some(redundant::Config::of(kind)), ..scheme })
}
