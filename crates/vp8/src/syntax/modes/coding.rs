//! Reading and writing of macroblocks' modes.

use super::odds::{MotionOdds, walk_vector};
use super::{MacroblockModes, Neighbours, Prediction, split};
use crate::bool_coder::{Probability, Reader, Writer};
use crate::syntax::intra_modes::{self, IntraModes};
use crate::syntax::motion::{MOTION_TREE, Motion, MotionMode, Reference, SignBias};
use crate::syntax::motion_vectors;

use crate::syntax::probabilities::Probabilities;
use crate::syntax::survey::Survey;
use crate::syntax::tree::{Branch::Leaf, Branch::Node, Tree};

/// The parameters for coding the modes of a frame's macroblocks.
#[derive(Debug, Clone)]
pub struct ModeCoding {
    /// True if the frame is a key frame.
    pub is_key: bool,
    /// The probabilities of the segments' tree (nodes for 0-1 or 2-3, 0 or 1, 2 or 3); `None` when the frame keeps the
    /// segment map.
    pub segments: Option<[Probability; 3]>,
    /// The probability that a macroblock is not skipped; `None` when none is skipped.
    pub skip: Option<Probability>,
    /// The probability that a macroblock is intra-predicted. Key frames use neither this nor the following fields.
    pub intra: Probability,
    /// The probability that the last frame is the reference.
    pub last: Probability,
    /// The probability that the golden frame is the reference, if the last is not.
    pub golden: Probability,
    /// The references whose vectors are sign-inverted.
    pub sign_bias: SignBias,
}

/// The tree of segments (section 10).
const SEGMENT_TREE: Tree<u8> = Tree(&[[Node(1), Node(2)], [Leaf(0), Leaf(1)], [Leaf(2), Leaf(3)]]);

impl ModeCoding {
    /// Reads a macroblock's modes.
    pub fn read(
        &self,
        reader: &mut Reader<'_>,
        probabilities: &Probabilities,
        neighbours: &Neighbours,
    ) -> MacroblockModes {
        let segment = self.segments.map(|segments| SEGMENT_TREE.read(reader, &segments));
        let is_skipped = self.skip.is_some_and(|probability| reader.bool(probability));
        let prediction = if self.is_key {
            let (above, left) = (&neighbours.above().lower_modes, &neighbours.left().right_modes);
            Prediction::Intra(intra_modes::read_of_key_frame(reader, above, left))
        } else if !reader.bool(self.intra) {
            Prediction::Intra(intra_modes::read(reader, &probabilities.luma_modes, &probabilities.chroma_modes))
        } else {
            let reference = match reader.bool(self.last) {
                false => Reference::Last,
                true if reader.bool(self.golden) => Reference::Altref,
                true => Reference::Golden,
            };
            let survey = neighbours.survey(reference, self.sign_bias);
            let motion = match MOTION_TREE.read(reader, &survey.modes) {
                MotionMode::Zero => Motion::Zero,
                MotionMode::Nearest => Motion::Nearest(survey.nearest),
                MotionMode::Near => Motion::Near(survey.near),
                MotionMode::New => Motion::New(motion_vectors::read(reader, &probabilities.vectors).plus(survey.best)),
                MotionMode::Split => Motion::Split(split::read(reader, probabilities, neighbours, survey.best)),
            };
            Prediction::Inter { reference, motion }
        };
        MacroblockModes { segment, is_skipped, prediction }
    }

    /// Writes a macroblock's modes. Its nearest, near and copied vectors are not used: they follow from a
    /// [`survey`](Neighbours::survey) and the neighbours.
    pub fn write(
        &self,
        writer: &mut Writer,
        probabilities: &Probabilities,
        neighbours: &Neighbours,
        modes: &MacroblockModes,
    ) {
        self.write_flags(writer, modes.segment, modes.is_skipped);
        match &modes.prediction {
            Prediction::Intra(modes) => self.write_intra(writer, probabilities, neighbours, modes),
            Prediction::Inter { reference, motion } => {
                writer.bool(self.intra, true);
                writer.bool(self.last, *reference != Reference::Last);
                if *reference != Reference::Last {
                    writer.bool(self.golden, *reference == Reference::Altref);
                }
                let survey = neighbours.survey(*reference, self.sign_bias);
                walk_motion(motion, &survey, neighbours, |odds, bool| {
                    let probability = match odds {
                        MotionOdds::Known(probability) => probability,
                        MotionOdds::Vector { component, node } => probabilities.vectors[component][node],
                    };
                    writer.bool(probability, bool);
                });
            }
        }
    }

    /// Writes the fields before a macroblock's prediction: its segment, and whether it is skipped.
    #[inline]
    pub fn write_flags(&self, writer: &mut Writer, segment: Option<u8>, is_skipped: bool) {
        if let Some(segments) = self.segments {
            SEGMENT_TREE.write(writer, &segments, segment.unwrap_or(0));
        }
        if let Some(skip) = self.skip {
            writer.bool(skip, is_skipped);
        }
    }

    /// Writes a macroblock's intra modes. Only in key frames do they depend on its neighbours.
    pub fn write_intra(
        &self,
        writer: &mut Writer,
        probabilities: &Probabilities,
        neighbours: &Neighbours,
        modes: &IntraModes,
    ) {
        if self.is_key {
            let (above, left) = (&neighbours.above().lower_modes, &neighbours.left().right_modes);
            intra_modes::write_of_key_frame(writer, modes, above, left);
        } else {
            writer.bool(self.intra, false);
            intra_modes::write(writer, modes, &probabilities.luma_modes, &probabilities.chroma_modes);
        }
    }
}

/// Calls `step` with each bool of a macroblock's motion, given the neighbours' motion: the bools after the reference in
/// the first partition.
pub fn walk_motion(motion: &Motion, survey: &Survey, neighbours: &Neighbours, mut step: impl FnMut(MotionOdds, bool)) {
    MOTION_TREE.walk(motion.mode(), |node, bool| step(MotionOdds::Known(survey.modes[node]), bool));
    match motion {
        Motion::New(vector) => walk_vector(vector.minus(survey.best), &mut step),
        Motion::Split(split) => split::walk(split, survey.best, neighbours, step),
        Motion::Zero | Motion::Nearest(_) | Motion::Near(_) => {}
    }
}
