//! Which candidates to encode of a picture, so that one probably fits.

use alloc::vec;
use alloc::vec::Vec;

use thalweg_types::{EncodedFrame, Target};
use thalweg_units::{Bytes, ConfigError, check};

use super::conventional::{EachSecond, Steps};
use crate::frames::policy::View;

/// Which candidates are encoded.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Candidates {
    /// Salsify's: two qualities around that of the last frame sent.
    Around(Around),
    /// Frames of sizes that are expected to fit: the quality is predicted from the size instead of moved in steps.
    Fitting(Fitting),
    /// One candidate, its quantiser guessed from an encode at half the width and height: Salsify's transport with a
    /// conventional codec.
    Guess,
    /// One candidate, its quantiser changed once a second by how the rate changed: conventional transport and codec.
    EachSecond(EachSecond),
}

impl Default for Candidates {
    fn default() -> Candidates {
        Candidates::Around(Around::default())
    }
}

/// One frame of better and one of worse quality than the last (Salsify section 3.1; the steps are those of the authors'
/// code, specs/salsify.md 3). All in VP8's y_ac_qi, 0 to 127.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Around {
    /// The quantiser that counts as the last one before the first frame.
    pub first: u8,
    /// How many steps finer the better one is.
    pub finer: u8,
    /// How many steps coarser the worse one is.
    pub coarser: u8,
    /// No finer than this.
    pub finest: u8,
    /// No coarser than this.
    pub coarsest: u8,
}

impl Default for Around {
    fn default() -> Around {
        Around { first: 64, finer: 17, coarser: 23, finest: 3, coarsest: 127 }
    }
}

/// Frames whose sizes are given shares of the room when the picture is read.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Fitting {
    /// The shares, at least one, largest first. Shares above 1 serve when the room grows while the picture is encoded,
    /// shares below 1 when it shrinks.
    pub shares: Vec<f64>,
    /// The min size asked for: a frame of a packet or two is sent even when there is hardly any room.
    pub min: Bytes,
}

impl Default for Fitting {
    fn default() -> Fitting {
        Fitting { shares: vec![1.0, 0.5], min: Bytes::new(1000) }
    }
}

/// Larger than any frame: for this target size the codec uses its finest quantiser.
const EVERYTHING: Bytes = Bytes::new(1 << 24);

impl Candidates {
    pub(super) fn build(&self) -> Result<Aim, ConfigError> {
        Ok(match self {
            Candidates::Around(around) => {
                check("candidates.around", format_args!("{} to {}", around.finest, around.coarsest))
                    .is(around.finest <= around.coarsest && around.coarsest <= 127, "finest <= coarsest <= 127")?;
                Aim::Around { around: *around, last: around.first }
            }
            Candidates::Fitting(fitting) => {
                let wrong = |share: &&f64| !(**share > 0.0 && share.is_finite());
                check("candidates.fitting.shares", format_args!("{:?}", fitting.shares)).is(
                    !fitting.shares.is_empty()
                        && fitting.shares.len() <= 8
                        && !fitting.shares.iter().any(|share| wrong(&share)),
                    "1 to 8 shares above 0, such as [1.0, 0.5]",
                )?;
                Aim::Fitting(fitting.clone())
            }
            Candidates::Guess => Aim::Guess,
            Candidates::EachSecond(config) => Aim::EachSecond(config.build()?),
        })
    }
}

/// [`Candidates`] with their running state.
#[derive(Debug, Clone)]
pub(super) enum Aim {
    Around { around: Around, last: u8 },
    Fitting(Fitting),
    Guess,
    EachSecond(Steps),
}

impl Aim {
    /// The targets to ask the encoder for, best first.
    pub(super) fn targets(&mut self, view: &View, room: Bytes) -> Vec<Target> {
        match self {
            Aim::Around { around, last } => {
                let within = |quantizer: u8| Target::Quantizer(quantizer.clamp(around.finest, around.coarsest));
                vec![within(last.saturating_sub(around.finer)), within(last.saturating_add(around.coarser))]
            }
            Aim::Fitting(fitting) => {
                let sized = |share: &f64| Target::Size(room.min(EVERYTHING).scale(*share).max(fitting.min));
                fitting.shares.iter().map(sized).collect()
            }
            Aim::Guess => vec![Target::Guess(room.min(EVERYTHING))],
            Aim::EachSecond(steps) => vec![Target::Quantizer(steps.quantizer(view.now, view.limits.capacity))],
        }
    }

    /// Returns true if less room leads to smaller frames.
    pub(super) fn depends_on_room(&self) -> bool {
        !matches!(self, Aim::EachSecond(_))
    }

    /// A candidate was sent.
    pub(super) fn on_queued(&mut self, encoded: &EncodedFrame) {
        if let (Aim::Around { last, .. }, Some(quantizer)) = (self, encoded.quantizer) {
            *last = quantizer;
        }
    }
}
