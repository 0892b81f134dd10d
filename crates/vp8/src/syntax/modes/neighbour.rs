//! The properties of a macroblock that its neighbours depend on.

use super::Prediction;
use crate::syntax::{Motion, MotionVector, Reference, SubblockMode};

/// The properties of a macroblock that later macroblocks depend on. [`Neighbour::default`] is one outside of the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Neighbour {
    /// Its reference; `None` for intra prediction.
    pub reference: Option<Reference>,
    /// True if it has several motion vectors.
    pub is_split: bool,
    /// Its motion vector, for a split one that of its last subblock; zero without motion.
    pub vector: MotionVector,
    /// The vectors of its lowest subblocks, from the left.
    pub lower_vectors: [MotionVector; 4],
    /// The vectors of its subblocks at the right, from the top.
    pub right_vectors: [MotionVector; 4],
    /// The modes of its lowest subblocks, from the left; [`SubblockMode::Dc`] outside key frames.
    pub lower_modes: [SubblockMode; 4],
    /// The modes of its subblocks at the right, from the top; [`SubblockMode::Dc`] outside key frames.
    pub right_modes: [SubblockMode; 4],
}

impl Neighbour {
    /// The properties of a macroblock with this prediction.
    #[inline]
    #[must_use]
    pub fn of(prediction: &Prediction) -> Self {
        match prediction {
            Prediction::Intra(modes) => Self {
                lower_modes: std::array::from_fn(|i| modes.luma.of_subblock(12 + i)),
                right_modes: std::array::from_fn(|i| modes.luma.of_subblock(3 + 4 * i)),
                ..Self::default()
            },
            Prediction::Inter { reference, motion } => Self {
                reference: Some(*reference),
                is_split: matches!(motion, Motion::Split(_)),
                vector: motion.vector(),
                lower_vectors: std::array::from_fn(|i| motion.of_subblock(12 + i)),
                right_vectors: std::array::from_fn(|i| motion.of_subblock(3 + 4 * i)),
                ..Self::default()
            },
        }
    }
}
