//! Vidaptive (specs/vidaptive.md): on the wire a backlogged flow of its controller; the encoder is steered by
//! hindsight.

use thalweg_control::{gcc, rocc};

use super::peers::by_reports;
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

/// With a size that also rises while the quantiser is fine: the paper's rule asks for an alpha above 0.9, and frames that
/// vary by a fifth keep alpha near 0.7. Not in the paper.
pub(super) fn resolution_by_quantizer() -> Scheme {
    let mut scheme = over_copa();
    if let FramesConfig::RateTargeted(frames) = &mut scheme.frames
        && let resolution::Config::Ladder(ladder) = &mut frames.resolution
    {
        ladder.up_quantizer = Some(resolution::QualityScalerConfig::default().low_quantizer);
    }
    scheme
}

/// For links that deliver in gaps (TMobile-LTE-driving: up to 178 ms). Half an srtt, over which Copa takes its standing
/// round trip, lies within such a gap, and the gap counts as a queue; and with two packets a window that was cut in one
/// gap takes seconds to grow. So: a whole srtt, and BBR's least window of four packets (draft-ietf-ccwg-bbr,
/// BBRMinPipeCwnd). Not in the paper.
pub(super) fn for_gaps() -> Scheme {
    let mut scheme = over_copa();
    if let ControllerConfig::Copa(copa) = &mut scheme.controller {
        copa.standing_share = 1.0;
        copa.min_window = 4.0;
    }
    scheme
}

/// Over GCC's estimate, which has no window: dummies fill up to its pacing rate. Not in the paper.
pub(super) fn over_gcc() -> Scheme {
    by_reports(Scheme {
        controller: ControllerConfig::Gcc(gcc::Config::default()),
        pacing: crate::pacing::Config::default(),
        feedback: FeedbackStyle::Twcc,
        ..over_copa()
    })
}
