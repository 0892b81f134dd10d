//! What to make of a picture, in the hope that one fits.

use alloc::vec;
use alloc::vec::Vec;

use thalweg_media::{EncodedFrame, Target};
use thalweg_units::{Bytes, ConfigError, check};

use super::conventional::{EachSecond, Steps};
use crate::frames::policy::View;

/// Which candidates are made.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Candidates {
    /// Two around what was last sent: Salsify's.
    Around(Around),
    /// Of sizes that are expected to fit: the next quality predicted, not stepped to.
    Fitting(Fitting),
    /// One, its quantiser guessed from a smaller picture: Salsify's transport with a conventional codec.
    Guess,
    /// One, its quantiser changed each second by how the rate changed: conventional transport and codec.
    EachSecond(EachSecond),
}

impl Default for Candidates {
    fn default() -> Candidates {
        Candidates::Around(Around::default())
    }
}

/// A better frame and a worse one than the last (Salsify section 3.1; the steps are those of the authors' code, specs/salsify.md 3). All
/// in VP8's y_ac_qi, 0 to 127.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Around {
    /// What stands for the last quantiser at first.
    pub first: u8,
    /// How much finer the better one is.
    pub finer: u8,
    /// How much coarser the worse one is.
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

/// Frames of given shares of the room there is when the picture is read.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Fitting {
    /// The shares, at least one, the largest first. What is above 1 is for room that grows while the picture is coded,
    /// what is below for room that shrinks.
    pub shares: Vec<f64>,
    /// No less than this is asked for: a frame of a packet or two is sent even where there is hardly any room.
    pub min: Bytes,
}

impl Default for Fitting {
    fn default() -> Fitting {
        Fitting { shares: vec![1.0, 0.5], min: Bytes::new(1000) }
    }
}

/// More than any frame has: what the codec makes of it is its finest.
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

/// [`Candidates`] in its running state.
#[derive(Debug, Clone)]
pub(super) enum Aim {
    Around { around: Around, last: u8 },
    Fitting(Fitting),
    Guess,
    EachSecond(Steps),
}

impl Aim {
    /// What to ask the encoder for, the best first.
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

    /// Whether less room makes for smaller frames.
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
