//! Coefficients as tokens (RFC 6386 section 13).

mod read;
mod write;

pub use read::read;
pub use write::{Step, walk, walk_block, write};

use crate::bool_coder::Probability;
use crate::kernels::Block;

/// The index in a [`Block`] of each coefficient of the zigzag scan (RFC 6386 section 13).
pub const ZIGZAG: [u8; 16] = [0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15];

/// The band of each scan position, which selects its probabilities (section 13.3). There is one more entry than
/// positions, for look-ahead.
pub const BANDS: [u8; 17] = [0, 1, 2, 3, 6, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7, 0];

/// The kind of a block of coefficients: the first index of their probabilities.
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
    /// The first coded scan position.
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
    /// Sixteen blocks of luma, four of each chroma plane, in raster order each, and the Y2 block; coefficients in
    /// raster order.
    pub blocks: [Block; 25],
    /// Number of coded scan positions of each block, including the first even if it is in the Y2 block: 0 to 16. Every
    /// coefficient after that is 0.
    pub ends: [u8; 25],
}

/// Which blocks along an edge of a macroblock have coefficients, 1 or 0 each: four of luma, two of each chroma plane,
/// and the latest Y2 block.
pub type EdgeContext = [u8; 9];

/// The edge of each block: the index into the context above and into the one to the left.
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

/// Dequantisation factors of a kind of block: for the first coefficient, and for all others. The arithmetic is 16-bit
/// with wraparound.
pub type Factors = [i16; 2];

/// The factors of a macroblock's blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MacroblockFactors {
    /// Factors of luma.
    pub luma: Factors,
    /// Factors of the Y2 block.
    pub y2: Factors,
    /// Factors of chroma.
    pub chroma: Factors,
}

impl MacroblockFactors {
    /// Factors that keep levels unchanged.
    pub const ONE: Self = Self { luma: [1; 2], y2: [1; 2], chroma: [1; 2] };
}

/// Marks a macroblock without coefficients in the contexts of later ones. The Y2 entry is kept if it has no Y2 block.
pub fn skip(above: &mut EdgeContext, left: &mut EdgeContext, has_y2: bool) {
    let length = if has_y2 { 9 } else { 8 };
    above[..length].fill(0);
    left[..length].fill(0);
}

/// The probabilities of the additional bits of the tokens for ranges, and the start of each range (section 13.2).
pub const RANGES: [(&[Probability], u16); 6] = [
    (&[159], 5),
    (&[165, 145], 7),
    (&[173, 148, 140], 11),
    (&[176, 155, 140, 135], 19),
    (&[180, 157, 141, 134, 130], 35),
    (&[254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129], 67),
];
