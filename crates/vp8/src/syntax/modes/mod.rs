//! The content of the first partition for each macroblock, and its contexts (RFC 6386 sections 10, 11 and 16).

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

/// The prediction of a macroblock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Prediction {
    /// Intra prediction.
    Intra(IntraModes),
    /// Inter prediction.
    Inter {
        /// The reference.
        reference: Reference,
        /// The motion.
        motion: Motion,
    },
}

impl Prediction {
    /// Returns true if the macroblock has a Y2 block: when luma is not predicted in 4x4 subblocks, the first
    /// coefficients of the sixteen subblocks are coded in a block of their own.
    #[must_use]
    pub const fn has_y2(&self) -> bool {
        !matches!(
            self,
            Self::Intra(IntraModes { luma: LumaMode::Subblocks(_), .. }) | Self::Inter { motion: Motion::Split(_), .. }
        )
    }
}

/// The content of the first partition for a macroblock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MacroblockModes {
    /// The segment it is assigned to (0 to 3); `None` when the frame keeps the segment map.
    pub segment: Option<u8>,
    /// True if it has no coefficients; always false if the frame has no such flags.
    pub is_skipped: bool,
    /// Its prediction.
    pub prediction: Prediction,
}
