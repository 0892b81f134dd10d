//! The vectors of split macroblocks (RFC 6386 section 16.4).

use super::Neighbours;
use super::odds::{MotionOdds, walk_vector};
use crate::bool_coder::Reader;
use crate::syntax::motion::{LAYOUT_TREE, LAYOUTS, PART_TREE, PartMode, Split, part_modes};
use crate::syntax::motion_vectors::{self, MotionVector};
use crate::syntax::probabilities::Probabilities;

/// The vectors to the left of and above a subblock, in its macroblock or in the neighbours.
#[must_use]
pub fn vectors_beside(
    vectors: &[MotionVector; 16],
    subblock: usize,
    neighbours: &Neighbours,
) -> (MotionVector, MotionVector) {
    let left =
        if subblock.is_multiple_of(4) { neighbours.left().right_vectors[subblock / 4] } else { vectors[subblock - 1] };
    let above = if subblock < 4 { neighbours.above().lower_vectors[subblock] } else { vectors[subblock - 4] };
    (left, above)
}

/// Reads the vectors; `best` is the vector from which new ones are coded as differences.
pub fn read(
    reader: &mut Reader<'_>,
    probabilities: &Probabilities,
    neighbours: &Neighbours,
    best: MotionVector,
) -> Split {
    let layout = LAYOUT_TREE.read(reader, &LAYOUTS);
    let mut split = Split { layout, modes: [PartMode::Zero; 16], vectors: [MotionVector::ZERO; 16] };
    for (part, &first) in layout.first_subblocks().iter().enumerate() {
        let (left, above) = vectors_beside(&split.vectors, usize::from(first), neighbours);
        split.modes[part] = PART_TREE.read(reader, part_modes(left, above));
        let vector = match split.modes[part] {
            PartMode::Left => left,
            PartMode::Above => above,
            PartMode::Zero => MotionVector::ZERO,
            PartMode::New => motion_vectors::read(reader, &probabilities.vectors).plus(best),
        };
        for (subblock, of) in split.vectors.iter_mut().zip(layout.parts()) {
            if usize::from(*of) == part {
                *subblock = vector;
            }
        }
    }
    split
}

/// Calls `step` with each bool of the vectors; new ones are coded as differences from `best`.
pub fn walk(split: &Split, best: MotionVector, neighbours: &Neighbours, mut step: impl FnMut(MotionOdds, bool)) {
    LAYOUT_TREE.walk(split.layout, |node, bool| step(MotionOdds::Known(LAYOUTS[node]), bool));
    for (part, &first) in split.layout.first_subblocks().iter().enumerate() {
        let (left, above) = vectors_beside(&split.vectors, usize::from(first), neighbours);
        let probabilities = part_modes(left, above);
        PART_TREE.walk(split.modes[part], |node, bool| step(MotionOdds::Known(probabilities[node]), bool));
        if split.modes[part] == PartMode::New {
            walk_vector(split.vectors[usize::from(first)].minus(best), &mut step);
        }
    }
}
