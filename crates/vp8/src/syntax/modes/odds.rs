//! With what probability a bool of a macroblock's motion is coded.

use crate::bool_coder::Probability;
use crate::syntax::motion_vectors::{self, MotionVector};

/// What the probability of a bool is that says how a macroblock moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MotionOdds {
    /// One that follows from the neighbours, or a constant.
    Known(Probability),
    /// One of motion vectors, which a frame may change.
    Vector {
        /// Of which component: that down is 0.
        component: usize,
        /// Its place among the component's.
        node: usize,
    },
}

/// Calls `step` with each bool that codes a vector: its difference from the best.
pub(super) fn walk_vector(difference: MotionVector, step: &mut impl FnMut(MotionOdds, bool)) {
    motion_vectors::walk(difference, |component, node, bool| step(MotionOdds::Vector { component, node }, bool));
}
