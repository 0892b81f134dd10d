//! What the first partition says of each macroblock, and of what that depends (RFC 6386 sections 10, 11 and 16).

mod coding;
mod neighbour;
mod neighbours;
mod odds;
mod split;

pub use coding::{ModeCoding, walk_motion};
pub use neighbour::Neighbour;
pub use neighbours::Neighbours;
pub use odds::MotionOdds;
pub use split::vectors_beside;

use super::intra_modes::{IntraModes, LumaMode};
use super::motion::{Motion, Reference};

/// How a macroblock is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Prediction {
    /// From its own frame.
    Intra(IntraModes),
    /// From another frame.
    Inter {
        /// Which.
        reference: Reference,
        /// From where in it.
        motion: Motion,
    },
}

impl Prediction {
    /// Whether luma is predicted as a whole or in halves and quarters of it that share a Y2 block: the first coefficients
    /// of the sixteen subblocks are then coded in a block of their own.
    #[must_use]
    pub const fn has_y2(&self) -> bool {
        !matches!(
            self,
            Self::Intra(IntraModes { luma: LumaMode::Subblocks(_), .. }) | Self::Inter { motion: Motion::Split(_), .. }
        )
    }
}

/// What the first partition says of a macroblock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MacroblockModes {
    /// The segment it is assigned to (0 to 3); none where the frame leaves the segment map as it is.
    pub segment: Option<u8>,
    /// Whether it has no coefficients; always false where the frame has no such flags.
    pub is_skipped: bool,
    /// How it is predicted.
    pub prediction: Prediction,
}
