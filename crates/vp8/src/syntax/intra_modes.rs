//! Intra modes (RFC 6386 sections 11 and 16.1).

use super::tables::KEY_SUBBLOCK_MODES;
use super::tree::{Branch::Leaf, Branch::Node, Tree};
use crate::bool_coder::{Probability, Reader, Writer};

/// The prediction of 16x16 pixels of luma or 8x8 of chroma from the row above and the column to the left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockMode {
    /// Their mean.
    Dc,
    /// The row above, repeated.
    Vertical,
    /// The column to the left, repeated.
    Horizontal,
    /// "True motion": the pixel above plus the pixel to the left minus the corner pixel.
    TrueMotion,
}

/// The prediction of a 4x4 luma subblock from the pixels around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum SubblockMode {
    /// The mean of the pixels above and to the left.
    #[default]
    Dc,
    /// "True motion".
    TrueMotion,
    /// The row above, smoothed.
    Vertical,
    /// The column to the left, smoothed.
    Horizontal,
    /// Along the diagonal, down to the left.
    LeftDown,
    /// Along the diagonal, down to the right.
    RightDown,
    /// Steeply down to the right.
    VerticalRight,
    /// Steeply down to the left.
    VerticalLeft,
    /// Gently down to the right.
    HorizontalDown,
    /// Gently up to the right.
    HorizontalUp,
}

impl BlockMode {
    /// All modes, in the order of the RFC.
    pub const ALL: [Self; 4] = [Self::Dc, Self::Vertical, Self::Horizontal, Self::TrueMotion];

    /// The subblock mode that stands for this one as the context of neighbouring subblocks.
    #[must_use]
    pub const fn of_subblocks(self) -> SubblockMode {
        match self {
            Self::Dc => SubblockMode::Dc,
            Self::Vertical => SubblockMode::Vertical,
            Self::Horizontal => SubblockMode::Horizontal,
            Self::TrueMotion => SubblockMode::TrueMotion,
        }
    }
}

impl SubblockMode {
    /// All modes, in the order of the RFC.
    pub const ALL: [Self; 10] = [
        Self::Dc,
        Self::TrueMotion,
        Self::Vertical,
        Self::Horizontal,
        Self::LeftDown,
        Self::RightDown,
        Self::VerticalRight,
        Self::VerticalLeft,
        Self::HorizontalDown,
        Self::HorizontalUp,
    ];
}

/// The intra prediction of a macroblock's luma.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LumaMode {
    /// The same mode for all of it.
    Whole(BlockMode),
    /// A mode for each of the sixteen subblocks, in raster order (`B_PRED`).
    Subblocks([SubblockMode; 16]),
}

impl LumaMode {
    /// A subblock's mode, as the context of its neighbours.
    #[must_use]
    pub const fn of_subblock(&self, index: usize) -> SubblockMode {
        match self {
            Self::Whole(mode) => mode.of_subblocks(),
            Self::Subblocks(modes) => modes[index],
        }
    }
}

/// The modes of an intra macroblock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IntraModes {
    /// Mode of luma.
    pub luma: LumaMode,
    /// Mode of both chroma planes.
    pub chroma: BlockMode,
}

/// A leaf of the luma tree: one mode for the whole block, or `None` for subblock modes.
type Whole = Option<BlockMode>;

/// Luma modes in key frames (section 11.2).
pub const KEY_LUMA_TREE: Tree<Whole> = Tree(&[
    [Leaf(None), Node(1)],
    [Node(2), Node(3)],
    [Leaf(Some(BlockMode::Dc)), Leaf(Some(BlockMode::Vertical))],
    [Leaf(Some(BlockMode::Horizontal)), Leaf(Some(BlockMode::TrueMotion))],
]);
/// Their probabilities.
pub const KEY_LUMA_MODES: [Probability; 4] = [145, 156, 163, 128];

/// Luma modes in other frames (section 16.1). Their probabilities are part of the state.
pub const LUMA_TREE: Tree<Whole> = Tree(&[
    [Leaf(Some(BlockMode::Dc)), Node(1)],
    [Node(2), Node(3)],
    [Leaf(Some(BlockMode::Vertical)), Leaf(Some(BlockMode::Horizontal))],
    [Leaf(Some(BlockMode::TrueMotion)), Leaf(None)],
]);

/// Chroma modes (section 11.4).
pub const CHROMA_TREE: Tree<BlockMode> = Tree(&[
    [Leaf(BlockMode::Dc), Node(1)],
    [Leaf(BlockMode::Vertical), Node(2)],
    [Leaf(BlockMode::Horizontal), Leaf(BlockMode::TrueMotion)],
]);
/// Their probabilities in key frames.
pub const KEY_CHROMA_MODES: [Probability; 3] = [142, 114, 183];

/// Subblock modes (section 11.2).
pub const SUBBLOCK_TREE: Tree<SubblockMode> = Tree(&[
    [Leaf(SubblockMode::Dc), Node(1)],
    [Leaf(SubblockMode::TrueMotion), Node(2)],
    [Leaf(SubblockMode::Vertical), Node(3)],
    [Node(4), Node(6)],
    [Leaf(SubblockMode::Horizontal), Node(5)],
    [Leaf(SubblockMode::RightDown), Leaf(SubblockMode::VerticalRight)],
    [Leaf(SubblockMode::LeftDown), Node(7)],
    [Leaf(SubblockMode::VerticalLeft), Node(8)],
    [Leaf(SubblockMode::HorizontalDown), Leaf(SubblockMode::HorizontalUp)],
]);
/// Their probabilities outside key frames, where they have no context (section 16.1).
pub const SUBBLOCK_MODES: [Probability; 9] = [120, 90, 79, 133, 87, 85, 80, 111, 151];

/// Reads the modes of a macroblock of a key frame, given the subblock modes at the lower edge of the macroblock above
/// and at the right edge of the one to the left.
pub(super) fn read_of_key_frame(
    reader: &mut Reader<'_>,
    above: &[SubblockMode; 4],
    left: &[SubblockMode; 4],
) -> IntraModes {
    let luma = match KEY_LUMA_TREE.read(reader, &KEY_LUMA_MODES) {
        Some(mode) => LumaMode::Whole(mode),
        None => {
            let mut modes = [SubblockMode::Dc; 16];
            for index in 0..16 {
                modes[index] = SUBBLOCK_TREE.read(reader, key_subblock_modes(&modes, index, above, left));
            }
            LumaMode::Subblocks(modes)
        }
    };
    IntraModes { luma, chroma: CHROMA_TREE.read(reader, &KEY_CHROMA_MODES) }
}

/// Writes the format of [`read_of_key_frame`].
pub(super) fn write_of_key_frame(
    writer: &mut Writer,
    modes: &IntraModes,
    above: &[SubblockMode; 4],
    left: &[SubblockMode; 4],
) {
    match &modes.luma {
        LumaMode::Whole(mode) => KEY_LUMA_TREE.write(writer, &KEY_LUMA_MODES, Some(*mode)),
        LumaMode::Subblocks(modes) => {
            KEY_LUMA_TREE.write(writer, &KEY_LUMA_MODES, None);
            for (index, &mode) in modes.iter().enumerate() {
                SUBBLOCK_TREE.write(writer, key_subblock_modes(modes, index, above, left), mode);
            }
        }
    }
    CHROMA_TREE.write(writer, &KEY_CHROMA_MODES, modes.chroma);
}

/// The probabilities of a subblock's mode in a key frame, given the modes before it in its macroblock and in the
/// neighbours.
#[must_use]
pub fn key_subblock_modes(
    modes: &[SubblockMode; 16],
    index: usize,
    above: &[SubblockMode; 4],
    left: &[SubblockMode; 4],
) -> &'static [Probability; 9] {
    let (above, left) = modes_beside(modes, index, above, left);
    &KEY_SUBBLOCK_MODES[above as usize][left as usize]
}

/// The modes above a subblock and to the left of it, in its macroblock or in the neighbours.
#[must_use]
pub fn modes_beside(
    modes: &[SubblockMode; 16],
    index: usize,
    above: &[SubblockMode; 4],
    left: &[SubblockMode; 4],
) -> (SubblockMode, SubblockMode) {
    let above = if index < 4 { above[index] } else { modes[index - 4] };
    let left = if index.is_multiple_of(4) { left[index / 4] } else { modes[index - 1] };
    (above, left)
}

/// Reads the modes of an intra macroblock of an inter frame, given the probabilities of its luma and chroma modes.
pub(super) fn read(reader: &mut Reader<'_>, luma: &[Probability; 4], chroma: &[Probability; 3]) -> IntraModes {
    let luma = match LUMA_TREE.read(reader, luma) {
        Some(mode) => LumaMode::Whole(mode),
        None => LumaMode::Subblocks(std::array::from_fn(|_| SUBBLOCK_TREE.read(reader, &SUBBLOCK_MODES))),
    };
    IntraModes { luma, chroma: CHROMA_TREE.read(reader, chroma) }
}

/// Writes the format of [`read`].
pub(super) fn write(writer: &mut Writer, modes: &IntraModes, luma: &[Probability; 4], chroma: &[Probability; 3]) {
    match &modes.luma {
        LumaMode::Whole(mode) => LUMA_TREE.write(writer, luma, Some(*mode)),
        LumaMode::Subblocks(modes) => {
            LUMA_TREE.write(writer, luma, None);
            modes.iter().for_each(|&mode| SUBBLOCK_TREE.write(writer, &SUBBLOCK_MODES, mode));
        }
    }
    CHROMA_TREE.write(writer, chroma, modes.chroma);
}
