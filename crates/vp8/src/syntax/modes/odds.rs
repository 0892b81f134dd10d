//! The probabilities of the bools of a macroblock's motion.

use crate::bool_coder::Probability;
use crate::syntax::motion_vectors::{self, MotionVector};

/// The probability of a bool of a macroblock's motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MotionOdds {
    /// A probability that follows from the neighbours, or a constant.
    Known(Probability),
    /// A probability of motion vectors, which a frame may change.
    Vector {
        /// The component: 0 is the vertical one.
        component: usize,
        /// The index among the component's probabilities.
        node: usize,
    },
}

/// Calls `step` with each bool that codes a vector: its difference from the best vector.
pub(super) fn walk_vector(difference: MotionVector, step: &mut impl FnMut(MotionOdds, bool)) {
    motion_vectors::walk(difference, |component, node, bool| step(MotionOdds::Vector { component, node }, bool));
}
