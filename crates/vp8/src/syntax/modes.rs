//! What the first partition says of each macroblock, and of what that depends (RFC 6386 sections 10, 11 and 16).

use super::intra_modes::{self, IntraModes, SubblockMode};
use super::motion::{
    LAYOUT_TREE, LAYOUTS, MOTION_TREE, Motion, MotionMode, PART_TREE, PartMode, Reference, SignBias, Split, part_modes,
};
use super::motion_vectors::{self, MotionVector};
use super::probabilities::Probabilities;
use super::survey::{Bounds, Survey};
use super::tree::{Branch::Leaf, Branch::Node, Tree};
use crate::bool_coder::{Probability, Reader, Writer};
use crate::image::Size;

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
        use super::intra_modes::LumaMode;
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

/// What the macroblocks after it need to know of a macroblock. [`Neighbour::default`] is one outside the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Neighbour {
    /// What it is predicted from; none when from its own frame.
    pub reference: Option<Reference>,
    /// Whether it has several motion vectors.
    pub is_split: bool,
    /// Its motion vector, of a split one that of its last subblock; zero without one.
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
    /// What is to be known of a macroblock that is predicted in a way.
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

/// The neighbours of the macroblock that is coded next, in raster order.
#[derive(Debug, Clone)]
pub struct Neighbours {
    size: Size,
    column: usize,
    row: usize,
    /// One for each column, after one outside the frame: before the current column of this row, from it on of the row above.
    above: Vec<Neighbour>,
    left: Neighbour,
    above_left: Neighbour,
}

impl Neighbours {
    /// Before a frame's first macroblock.
    #[must_use]
    pub fn new(size: Size) -> Self {
        Self {
            size,
            column: 0,
            row: 0,
            above: vec![Neighbour::default(); size.columns()],
            left: Neighbour::default(),
            above_left: Neighbour::default(),
        }
    }

    /// Goes on to the next macroblock, past one that is predicted in a way.
    #[inline]
    pub fn advance(&mut self, prediction: &Prediction) {
        self.left = Neighbour::of(prediction);
        self.above_left = std::mem::replace(&mut self.above[self.column], self.left);
        self.column += 1;
        if self.column == self.above.len() {
            (self.column, self.row) = (0, self.row + 1);
            (self.left, self.above_left) = (Neighbour::default(), Neighbour::default());
        }
    }

    /// The macroblock's column and row.
    #[must_use]
    pub const fn position(&self) -> (usize, usize) {
        (self.column, self.row)
    }

    /// The macroblock above.
    #[must_use]
    pub fn above(&self) -> &Neighbour {
        &self.above[self.column]
    }

    /// The macroblock to the left.
    #[must_use]
    pub const fn left(&self) -> &Neighbour {
        &self.left
    }

    /// What the neighbours' motion says of the macroblock's, if it is predicted from a reference.
    #[inline]
    #[must_use]
    pub fn survey(&self, reference: Reference, sign_bias: SignBias) -> Survey {
        let bounds = Bounds::of(self.size, self.column, self.row);
        Survey::of(self.above(), &self.left, &self.above_left, reference, sign_bias, &bounds)
    }
}

/// What the modes of all macroblocks of a frame depend on.
#[derive(Debug, Clone)]
pub struct ModeCoding {
    /// Whether the frame is a key frame.
    pub is_key: bool,
    /// The probabilities of the segments' tree (nodes for 0-1 or 2-3, 0 or 1, 2 or 3); none when the frame leaves the
    /// segment map as it is.
    pub segments: Option<[Probability; 3]>,
    /// The probability that a macroblock is not skipped; none when none is.
    pub skip: Option<Probability>,
    /// The probability that a macroblock is predicted from its own frame. Key frames have no use for it nor the next.
    pub intra: Probability,
    /// The probability that the last frame is the reference.
    pub last: Probability,
    /// The probability that the golden frame is it, if the last is not.
    pub golden: Probability,
    /// Whose vectors count backwards.
    pub sign_bias: SignBias,
}

/// Of segments (section 10).
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
                MotionMode::Split => Motion::Split(read_split(reader, probabilities, neighbours, survey.best)),
            };
            Prediction::Inter { reference, motion }
        };
        MacroblockModes { segment, is_skipped, prediction }
    }

    /// Writes a macroblock's modes. Its nearest, near and copied vectors are not looked at: they are what a
    /// [`survey`](Neighbours::survey) and the neighbours say.
    pub fn write(
        &self,
        writer: &mut Writer,
        probabilities: &Probabilities,
        neighbours: &Neighbours,
        modes: &MacroblockModes,
    ) {
        if let Some(segments) = self.segments {
            SEGMENT_TREE.write(writer, &segments, modes.segment.unwrap_or(0));
        }
        if let Some(skip) = self.skip {
            writer.bool(skip, modes.is_skipped);
        }
        match &modes.prediction {
            Prediction::Intra(modes) if self.is_key => {
                let (above, left) = (&neighbours.above().lower_modes, &neighbours.left().right_modes);
                intra_modes::write_of_key_frame(writer, modes, above, left);
            }
            Prediction::Intra(modes) => {
                writer.bool(self.intra, false);
                intra_modes::write(writer, modes, &probabilities.luma_modes, &probabilities.chroma_modes);
            }
            Prediction::Inter { reference, motion } => {
                writer.bool(self.intra, true);
                writer.bool(self.last, *reference != Reference::Last);
                if *reference != Reference::Last {
                    writer.bool(self.golden, *reference == Reference::Altref);
                }
                let survey = neighbours.survey(*reference, self.sign_bias);
                MOTION_TREE.write(writer, &survey.modes, motion.mode());
                match motion {
                    Motion::New(vector) => {
                        motion_vectors::write(writer, &probabilities.vectors, vector.minus(survey.best));
                    }
                    Motion::Split(split) => write_split(writer, probabilities, neighbours, survey.best, split),
                    Motion::Zero | Motion::Nearest(_) | Motion::Near(_) => {}
                }
            }
        }
    }
}

/// The vectors to the left of and above a subblock, in its macroblock or beside it.
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

fn read_split(
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

fn write_split(
    writer: &mut Writer,
    probabilities: &Probabilities,
    neighbours: &Neighbours,
    best: MotionVector,
    split: &Split,
) {
    LAYOUT_TREE.write(writer, &LAYOUTS, split.layout);
    for (part, &first) in split.layout.first_subblocks().iter().enumerate() {
        let (left, above) = vectors_beside(&split.vectors, usize::from(first), neighbours);
        PART_TREE.write(writer, part_modes(left, above), split.modes[part]);
        if split.modes[part] == PartMode::New {
            motion_vectors::write(writer, &probabilities.vectors, split.vectors[usize::from(first)].minus(best));
        }
    }
}
