//! How macroblocks are predicted from other frames (RFC 6386 sections 16.2 to 16.4).

use super::motion_vectors::MotionVector;
use super::tree::{Branch::Leaf, Branch::Node, Tree};
use crate::bool_coder::Probability;

/// A frame that is kept to be predicted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reference {
    /// By habit the frame before.
    Last,
    /// By habit one from longer ago.
    Golden,
    /// By habit one that was never shown.
    Altref,
}

impl Reference {
    /// All references.
    pub const ALL: [Self; 3] = [Self::Last, Self::Golden, Self::Altref];
}

/// For each reference whose vectors may count backwards whether they do (RFC 6386 section 9.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SignBias {
    /// Vectors into the golden frame are compared with others the other way round.
    pub golden: bool,
    /// Vectors into the altref frame are.
    pub altref: bool,
}

impl SignBias {
    /// Whether vectors into a reference are compared with others the other way round.
    #[must_use]
    pub const fn of(self, reference: Reference) -> bool {
        match reference {
            Reference::Last => false,
            Reference::Golden => self.golden,
            Reference::Altref => self.altref,
        }
    }
}

/// Into which parts the luma of a macroblock is split, each with a motion vector of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SplitLayout {
    /// An upper and a lower half.
    UpperLower,
    /// A left and a right half.
    LeftRight,
    /// Quarters of 8x8 pixels.
    Quarters,
    /// Sixteen subblocks of 4x4 pixels.
    Sixteenths,
}

impl SplitLayout {
    /// Which part each subblock is of, in raster order.
    #[must_use]
    pub const fn parts(self) -> &'static [u8; 16] {
        match self {
            Self::UpperLower => &[0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1],
            Self::LeftRight => &[0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1],
            Self::Quarters => &[0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3],
            Self::Sixteenths => &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        }
    }

    /// The first subblock of each part.
    #[must_use]
    pub const fn first_subblocks(self) -> &'static [u8] {
        match self {
            Self::UpperLower => &[0, 8],
            Self::LeftRight => &[0, 2],
            Self::Quarters => &[0, 2, 8, 10],
            Self::Sixteenths => &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        }
    }
}

/// How the vector of a part of a split macroblock is coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PartMode {
    /// The vector of the subblock to the left.
    Left,
    /// The vector of the subblock above.
    Above,
    /// No motion.
    #[default]
    Zero,
    /// The difference to the macroblock's best vector.
    New,
}

/// The motion of a macroblock that is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Split {
    /// Into what.
    pub layout: SplitLayout,
    /// How each part's vector is coded; those after the last part are [`PartMode::Zero`].
    pub modes: [PartMode; 16],
    /// Every subblock's vector, in raster order.
    pub vectors: [MotionVector; 16],
}

/// How a macroblock moved, and how that is coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Motion {
    /// Not at all.
    Zero,
    /// As the vector that most of the neighbours have.
    Nearest(MotionVector),
    /// As the second most frequent vector.
    Near(MotionVector),
    /// As said by the difference to the best vector.
    New(MotionVector),
    /// Each part in a way of its own.
    Split(Split),
}

impl Motion {
    /// The vector that stands for the macroblock among its neighbours: of a split one that of its last subblock.
    #[must_use]
    pub const fn vector(&self) -> MotionVector {
        match self {
            Self::Zero => MotionVector::ZERO,
            Self::Nearest(vector) | Self::Near(vector) | Self::New(vector) => *vector,
            Self::Split(split) => split.vectors[15],
        }
    }

    /// A subblock's vector.
    #[must_use]
    pub const fn of_subblock(&self, index: usize) -> MotionVector {
        match self {
            Self::Split(split) => split.vectors[index],
            _ => self.vector(),
        }
    }

    /// What of it the mode tree codes.
    #[must_use]
    pub const fn mode(&self) -> MotionMode {
        match self {
            Self::Zero => MotionMode::Zero,
            Self::Nearest(_) => MotionMode::Nearest,
            Self::Near(_) => MotionMode::Near,
            Self::New(_) => MotionMode::New,
            Self::Split(_) => MotionMode::Split,
        }
    }
}

/// The kinds of [`Motion`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MotionMode {
    /// See [`Motion::Zero`].
    Zero,
    /// See [`Motion::Nearest`].
    Nearest,
    /// See [`Motion::Near`].
    Near,
    /// See [`Motion::New`].
    New,
    /// See [`Motion::Split`].
    Split,
}

/// Of motion modes (section 16.2). Their probabilities are a [`Survey`](super::Survey)'s.
pub const MOTION_TREE: Tree<MotionMode> = Tree(&[
    [Leaf(MotionMode::Zero), Node(1)],
    [Leaf(MotionMode::Nearest), Node(2)],
    [Leaf(MotionMode::Near), Node(3)],
    [Leaf(MotionMode::New), Leaf(MotionMode::Split)],
]);

/// Of layouts (section 16.4).
pub const LAYOUT_TREE: Tree<SplitLayout> = Tree(&[
    [Leaf(SplitLayout::Sixteenths), Node(1)],
    [Leaf(SplitLayout::Quarters), Node(2)],
    [Leaf(SplitLayout::UpperLower), Leaf(SplitLayout::LeftRight)],
]);
/// Their probabilities.
pub const LAYOUTS: [Probability; 3] = [110, 111, 150];

/// Of a part's mode (section 16.4).
pub const PART_TREE: Tree<PartMode> = Tree(&[
    [Leaf(PartMode::Left), Node(1)],
    [Leaf(PartMode::Above), Node(2)],
    [Leaf(PartMode::Zero), Leaf(PartMode::New)],
]);

/// The probabilities of a part's mode, given the vectors of the subblocks to the left of and above its first one.
#[must_use]
pub fn part_modes(left: MotionVector, above: MotionVector) -> &'static [Probability; 3] {
    if left == above {
        return if above == MotionVector::ZERO { &[208, 1, 1] } else { &[223, 1, 34] };
    }
    match (left == MotionVector::ZERO, above == MotionVector::ZERO) {
        (_, true) => &[179, 121, 1],
        (true, false) => &[106, 145, 1],
        (false, false) => &[147, 136, 18],
    }
}
