//! Vidaptive (specs/vidaptive.md): on the wire a backlogged flow of its controller; the encoder is steered by
//! hindsight.

use thalweg_control::{gcc, rocc};

use super::{ControllerConfig, FeedbackStyle, FramesConfig, Scheme, copa};
use crate::frames::rate_targeted::{self, TargetBase};
use crate::frames::{headroom, resolution, safeguards};
use crate::padding::redundant::{self, Kind};

/// Over Copa with delta 0.9.
pub(super) fn over_copa() -> Scheme {
    Scheme {
        frames: FramesConfig::RateTargeted(rate_targeted::Config {
            base: TargetBase::PacingRate,
            safeguards: safeguards::Config::default(),
            headroom: Some(headroom::Config::default()),
            resolution: resolution::Config::Ladder(resolution::LadderConfig::default()),
            encoder_drops: false,
            ..rate_targeted::Config::default()
        }),
        ..copa::with_dummies()
    }
}

/// With FEC packets as dummies (the paper's footnote 1).
pub(super) fn filled_with_fec() -> Scheme {
    Scheme { padding_content: Some(redundant::Config::of(Kind::Fec)), ..over_copa() }
}

/// With the content that helps the receiver most as dummies.
pub(super) fn filled_with_the_best() -> Scheme {
    Scheme { padding_content: Some(redundant::Config::of(Kind::Best)), ..over_copa() }
}

/// Over RoCC with gamma 0.5.
pub(super) fn over_rocc() -> Scheme {
    let config = rocc::Config { gamma: 0.5, ..rocc::Config::default() };
    Scheme { controller: ControllerConfig::Rocc(config), ..over_copa() }
}

/// Over GCC's estimate, which has no window: dummies fill up to its pacing rate. Not in the paper.
pub(super) fn over_gcc() -> Scheme {
    Scheme {
        controller: ControllerConfig::Gcc(gcc::Config::default()),
        pacing: crate::pacing::Config::default(),
        feedback: FeedbackStyle::Twcc,
        ..over_copa()
    }
}
