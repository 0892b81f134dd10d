//! Inter modes (RFC 6386 sections 16.2 to 16.4).

use super::motion_vectors::MotionVector;
use super::tree::{Branch::Leaf, Branch::Node, Tree};
use crate::bool_coder::Probability;

/// A reference frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reference {
    /// Usually the previous frame.
    Last,
    /// Usually an older frame.
    Golden,
    /// Usually a frame that was never shown.
    Altref,
}

impl Reference {
    /// All references.
    pub const ALL: [Self; 3] = [Self::Last, Self::Golden, Self::Altref];
}

/// Sign inversion of the vectors of each reference (RFC 6386 section 9.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SignBias {
    /// Vectors into the golden frame are inverted before they are compared with others.
    pub golden: bool,
    /// Vectors into the altref frame are inverted before they are compared with others.
    pub altref: bool,
}

impl SignBias {
    /// Returns true if vectors into a reference are inverted before they are compared with others.
    #[must_use]
    pub const fn of(self, reference: Reference) -> bool {
        match reference {
            Reference::Last => false,
            Reference::Golden => self.golden,
            Reference::Altref => self.altref,
        }
    }
}

/// The partition of a split macroblock's luma into parts, each with its own motion vector.
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
    /// The part of each subblock, in raster order.
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

/// The coding of the vector of a part of a split macroblock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PartMode {
    /// The vector of the subblock to the left.
    Left,
    /// The vector of the subblock above.
    Above,
    /// No motion.
    #[default]
    Zero,
    /// The difference from the macroblock's best vector.
    New,
}

/// The motion of a split macroblock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Split {
    /// The layout of its parts.
    pub layout: SplitLayout,
    /// The mode of each part; those after the last part are [`PartMode::Zero`].
    pub modes: [PartMode; 16],
    /// Every subblock's vector, in raster order.
    pub vectors: [MotionVector; 16],
}

/// The motion of a macroblock, and its coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Motion {
    /// No motion.
    Zero,
    /// The most frequent vector of the neighbours.
    Nearest(MotionVector),
    /// The second most frequent vector of the neighbours.
    Near(MotionVector),
    /// A new vector, coded as the difference from the best vector.
    New(MotionVector),
    /// A vector for each part.
    Split(Split),
}

impl Motion {
    /// The vector that neighbours use for the macroblock: for a split one that of its last subblock.
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

    /// The mode for the mode tree.
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

/// The tree of motion modes (section 16.2). Their probabilities are in a [`Survey`](super::Survey).
pub const MOTION_TREE: Tree<MotionMode> = Tree(&[
    [Leaf(MotionMode::Zero), Node(1)],
    [Leaf(MotionMode::Nearest), Node(2)],
    [Leaf(MotionMode::Near), Node(3)],
    [Leaf(MotionMode::New), Leaf(MotionMode::Split)],
]);

/// The tree of layouts (section 16.4).
pub const LAYOUT_TREE: Tree<SplitLayout> = Tree(&[
    [Leaf(SplitLayout::Sixteenths), Node(1)],
    [Leaf(SplitLayout::Quarters), Node(2)],
    [Leaf(SplitLayout::UpperLower), Leaf(SplitLayout::LeftRight)],
]);
/// Their probabilities.
pub const LAYOUTS: [Probability; 3] = [110, 111, 150];

/// The tree of a part's modes (section 16.4).
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
