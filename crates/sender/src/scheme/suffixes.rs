//! What may follow a scheme's name, and what it changes.

use super::{Scheme, rebera};
use crate::padding::redundant::{self, Kind};

/// Makes another scheme of one, as `gcc+fec` is `gcc` with FEC where it pads.
#[derive(Debug, Clone, Copy)]
pub struct Suffix {
    /// What follows the name.
    pub name: &'static str,
    /// What it changes, and of which schemes, in a line.
    pub about: &'static str,
    change: fn(Scheme) -> Option<Scheme>,
}

impl Suffix {
    /// The scheme changed; `None` where this may not follow it.
    pub fn change(&self, scheme: Scheme) -> Option<Scheme> {
        (self.change)(scheme)
    }
}

/// Every suffix there is.
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
