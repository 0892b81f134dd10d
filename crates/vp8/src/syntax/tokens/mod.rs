//! Coefficients as tokens (RFC 6386 section 13).

mod read;
mod write;

pub use read::read;
pub use write::{Step, walk, walk_block, write};

use crate::bool_coder::Probability;
use crate::kernels::Block;

/// At which index of a [`Block`] each coefficient of the zigzag scan is (RFC 6386 section 13).
pub const ZIGZAG: [u8; 16] = [0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15];

/// The band of each place of the scan, whose probabilities it has (section 13.3). There is one more than there are places,
/// so that one can look ahead.
pub const BANDS: [u8; 17] = [0, 1, 2, 3, 6, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7, 0];

/// The largest level there is a token for.
pub const LARGEST_TOKEN: u16 = 67 + (1 << 11) - 1;

/// What a block of coefficients is of: the first index of their probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// Luma whose first coefficients are in a Y2 block.
    LumaWithoutFirst,
    /// The first coefficients of the sixteen luma blocks, transformed once more.
    Y2,
    /// Chroma.
    Chroma,
    /// Luma with all coefficients.
    Luma,
}

impl BlockKind {
    /// The place of the scan that is coded first.
    #[must_use]
    pub const fn first(self) -> usize {
        matches!(self, Self::LumaWithoutFirst) as usize
    }
}

/// The index of the Y2 block among a macroblock's.
pub const Y2: usize = 24;

/// The coefficients of a macroblock.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Coefficients {
    /// Sixteen blocks of luma, four of each chroma plane, in raster order each, and the Y2 block; coefficients in raster order.
    pub blocks: [Block; 25],
    /// How many places of the scan are coded in each block, the first counted even where Y2 has it: 0 to 16. Every
    /// coefficient from there on is 0.
    pub ends: [u8; 25],
}

/// Which of the blocks along an edge of a macroblock have coefficients, 1 or 0 each: four of luma, two of each chroma plane,
/// and the last Y2 block there was.
pub type EdgeContext = [u8; 9];

/// Which edge each block is at: the index into the context above and into that to the left.
pub const EDGES: [(u8, u8); 25] = {
    let mut edges = [(8, 8); 25];
    let mut block = 0;
    while block < 16 {
        edges[block] = ((block % 4) as u8, (block / 4) as u8);
        block += 1;
    }
    while block < 24 {
        let first = if block < 20 { 4 } else { 6 };
        edges[block] = (first + (block % 2) as u8, first + (block / 2 % 2) as u8);
        block += 1;
    }
    edges
};

/// What the levels of a kind of block are multiplied by: the first, and all others. In 16-bit arithmetic that wraps.
pub type Factors = [i16; 2];

/// The factors of a macroblock's blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MacroblockFactors {
    /// Of luma.
    pub luma: Factors,
    /// Of the Y2 block.
    pub y2: Factors,
    /// Of chroma.
    pub chroma: Factors,
}

impl MacroblockFactors {
    /// Leaves levels as they are.
    pub const ONE: Self = Self { luma: [1; 2], y2: [1; 2], chroma: [1; 2] };
}

/// Marks a macroblock without coefficients in the contexts of those after it. The Y2 entry stays where it has no
/// such block.
pub fn skip(above: &mut EdgeContext, left: &mut EdgeContext, has_y2: bool) {
    let length = if has_y2 { 9 } else { 8 };
    above[..length].fill(0);
    left[..length].fill(0);
}

/// The probabilities of the further bits of the tokens for ranges, and where the ranges begin (section 13.2).
pub const RANGES: [(&[Probability], u16); 6] = [
    (&[159], 5),
    (&[165, 145], 7),
    (&[173, 148, 140], 11),
    (&[176, 155, 140, 135], 19),
    (&[180, 157, 141, 134, 130], 35),
    (&[254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129], 67),
];
