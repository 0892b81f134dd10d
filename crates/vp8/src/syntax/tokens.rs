//! Coefficients as tokens (RFC 6386 section 13).

use super::probabilities::CoefficientProbabilities;
use crate::bool_coder::{EVEN, Probability, Reader, Writer};
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

/// Reads the coefficients of a macroblock, multiplied, into blocks that are all zero. Returns whether there are any.
#[inline]
pub fn read(
    reader: &mut Reader<'_>,
    probabilities: &CoefficientProbabilities,
    (above, left): (&mut EdgeContext, &mut EdgeContext),
    has_y2: bool,
    factors: &MacroblockFactors,
    coefficients: &mut Coefficients,
) -> bool {
    let mut any = 0;
    coefficients.ends[Y2] = 0;
    let mut read = |block: usize, kind: BlockKind, factors: &Factors| {
        let (x, y) = EDGES[block];
        let (above, left) = (&mut above[usize::from(x)], &mut left[usize::from(y)]);
        let target = &mut coefficients.blocks[block];
        let first = kind.first();
        let end =
            read_block(reader, &probabilities[kind as usize], usize::from(*above + *left), first, factors, target);
        let is_coded = u8::from(end > first);
        (*above, *left) = (is_coded, is_coded);
        any |= is_coded;
        coefficients.ends[block] = if is_coded == 1 { end as u8 } else { 0 };
    };
    let luma = if has_y2 {
        read(Y2, BlockKind::Y2, &factors.y2);
        BlockKind::LumaWithoutFirst
    } else {
        BlockKind::Luma
    };
    (0..16).for_each(|block| read(block, luma, &factors.luma));
    (16..24).for_each(|block| read(block, BlockKind::Chroma, &factors.chroma));
    any != 0
}

/// Reads a block; returns the place after the last that is coded, `first` if none is.
#[inline(always)]
fn read_block(
    reader: &mut Reader<'_>,
    probabilities: &[[[Probability; 11]; 3]; 8],
    context: usize,
    first: usize,
    factors: &Factors,
    block: &mut Block,
) -> usize {
    let node = &probabilities[usize::from(BANDS[first])][context];
    if !reader.bool(node[0]) {
        return first;
    }
    // A local reader is kept in registers.
    let mut local = reader.clone();
    let end = read_coded(&mut local, probabilities, node, first, factors, block);
    *reader = local;
    end
}

/// Reads a block that is known to go on at a place; returns the place after the last that is coded.
#[inline(always)]
fn read_coded<'a>(
    reader: &mut Reader<'_>,
    probabilities: &'a [[[Probability; 11]; 3]; 8],
    mut node: &'a [Probability; 11],
    mut place: usize,
    factors: &Factors,
    block: &mut Block,
) -> usize {
    loop {
        while !reader.bool(node[1]) {
            place += 1;
            if place == 16 {
                return 16;
            }
            node = &probabilities[usize::from(BANDS[place])][0];
        }
        let next = &probabilities[usize::from(BANDS[place + 1])];
        let magnitude = if reader.bool(node[2]) {
            let magnitude = read_large(reader, node);
            node = &next[2];
            magnitude
        } else {
            node = &next[1];
            1
        };
        let level = if reader.flag() { -magnitude } else { magnitude };
        block[usize::from(ZIGZAG[place & 15])] = level.wrapping_mul(factors[usize::from(place > 0)]);
        place += 1;
        if place == 16 || !reader.bool(node[0]) {
            return place;
        }
    }
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

/// Reads a magnitude that is over 1.
#[inline(always)]
fn read_large(reader: &mut Reader<'_>, node: &[Probability; 11]) -> i16 {
    if !reader.bool(node[3]) {
        return if !reader.bool(node[4]) { 2 } else { 3 + i16::from(reader.bool(node[5])) };
    }
    let range = if !reader.bool(node[6]) {
        usize::from(reader.bool(node[7]))
    } else if !reader.bool(node[8]) {
        2 + usize::from(reader.bool(node[9]))
    } else {
        4 + usize::from(reader.bool(node[10]))
    };
    let (bits, base) = RANGES[range];
    let offset = bits.iter().fold(0, |offset, &bit| offset << 1 | i16::from(reader.bool(bit)));
    base as i16 + offset
}

/// Writes the levels of a macroblock: what [`read`] reads with [`MacroblockFactors::ONE`].
pub fn write(
    writer: &mut Writer,
    probabilities: &CoefficientProbabilities,
    (above, left): (&mut EdgeContext, &mut EdgeContext),
    has_y2: bool,
    levels: &Coefficients,
) {
    walk((above, left), has_y2, levels, |step| match step {
        Step::Token { kind, band, context, node, bool } => {
            writer.bool(probabilities[kind as usize][band][context][node], bool);
        }
        Step::Fixed { probability, bool } => writer.bool(probability, bool),
    });
}

/// A bool of a coefficient's token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// One whose probability a frame may change.
    Token {
        /// Of which block: the first index of the probability.
        kind: BlockKind,
        /// The second index.
        band: usize,
        /// The third index.
        context: usize,
        /// The fourth index.
        node: usize,
        /// The bool.
        bool: bool,
    },
    /// A sign, or a further bit of a range.
    Fixed {
        /// The probability.
        probability: Probability,
        /// The bool.
        bool: bool,
    },
}

/// Calls `step` with each bool that codes the levels of a macroblock, in their order: what an encoder that counts or prices
/// bools needs.
#[inline]
pub fn walk(
    (above, left): (&mut EdgeContext, &mut EdgeContext),
    has_y2: bool,
    levels: &Coefficients,
    mut step: impl FnMut(Step),
) {
    let luma = if has_y2 { BlockKind::LumaWithoutFirst } else { BlockKind::Luma };
    let blocks = (0..24).map(|block| (block, if block < 16 { luma } else { BlockKind::Chroma }));
    for (block, kind) in has_y2.then_some((Y2, BlockKind::Y2)).into_iter().chain(blocks) {
        let (x, y) = EDGES[block];
        let (above, left) = (&mut above[usize::from(x)], &mut left[usize::from(y)]);
        let end = usize::from(levels.ends[block]).max(kind.first());
        walk_block(&levels.blocks[block], kind, usize::from(*above + *left), end, &mut step);
        let is_coded = u8::from(end > kind.first());
        (*above, *left) = (is_coded, is_coded);
    }
}

/// Calls `step` with each bool that codes the levels of a block of which the places before `end` are coded.
#[inline]
pub fn walk_block(block: &Block, kind: BlockKind, mut context: usize, end: usize, step: &mut impl FnMut(Step)) {
    let mut after_zero = false;
    for place in kind.first()..end {
        let band = usize::from(BANDS[place]);
        let mut token = |node, bool| step(Step::Token { kind, band, context, node, bool });
        let level = block[usize::from(ZIGZAG[place])];
        let magnitude = level.unsigned_abs();
        if !after_zero {
            token(0, true);
        }
        token(1, magnitude > 0);
        after_zero = magnitude == 0;
        if after_zero {
            context = 0;
            continue;
        }
        token(2, magnitude > 1);
        if magnitude > 1 {
            token(3, magnitude > 4);
            match magnitude {
                2 => token(4, false),
                3..5 => {
                    token(4, true);
                    token(5, magnitude == 4);
                }
                _ => {
                    let range = RANGES.iter().rposition(|&(_, base)| magnitude >= base).unwrap_or(0);
                    token(6, range >= 2);
                    let second = [7, 8][usize::from(range >= 2)];
                    match range {
                        0 | 1 => token(second, range == 1),
                        2 | 3 => {
                            token(second, false);
                            token(9, range == 3);
                        }
                        _ => {
                            token(second, true);
                            token(10, range == 5);
                        }
                    }
                    let (bits, base) = RANGES[range];
                    for (i, &probability) in bits.iter().enumerate() {
                        let bool = (magnitude - base) >> (bits.len() - 1 - i) & 1 == 1;
                        step(Step::Fixed { probability, bool });
                    }
                }
            }
        }
        step(Step::Fixed { probability: EVEN, bool: level < 0 });
        context = if magnitude == 1 { 1 } else { 2 };
    }
    if end < 16 {
        step(Step::Token { kind, band: usize::from(BANDS[end]), context, node: 0, bool: false });
    }
}

#[cfg(test)]
mod tests {
    use super::super::Probabilities;
    use super::*;
    use proptest::prelude::*;

    fn level() -> impl Strategy<Value = i16> {
        prop_oneof![6 => Just(0), 3 => -4i16..5, 1 => -2114i16..=2114]
    }

    fn end_of(block: &Block, kind: BlockKind) -> u8 {
        (kind.first()..16)
            .rev()
            .find(|&place| block[usize::from(ZIGZAG[place])] != 0)
            .map_or(0, |place| place as u8 + 1)
    }

    proptest! {
        #[test]
        fn levels_are_read_as_they_were_written(
            values in prop::collection::vec(level(), 400),
            has_y2: bool,
            mut above in [0u8..2, 0u8..2, 0u8..2, 0u8..2, 0u8..2, 0u8..2, 0u8..2, 0u8..2, 0u8..2],
        ) {
            let mut levels = Coefficients::default();
            for block in 0..if has_y2 { 25 } else { 24 } {
                levels.blocks[block].copy_from_slice(&values[block * 16..][..16]);
                let kind = if block < 16 && has_y2 { BlockKind::LumaWithoutFirst } else { BlockKind::Luma };
                if kind.first() == 1 {
                    levels.blocks[block][0] = 0;
                }
                levels.ends[block] = end_of(&levels.blocks[block], kind);
            }
            let probabilities = Probabilities::default().coefficients;
            let (mut left, mut above_again, mut left_again) = ([0; 9], above, [0; 9]);
            let mut writer = Writer::new();
            write(&mut writer, &probabilities, (&mut above, &mut left), has_y2, &levels);
            let bytes = writer.finish();
            let mut reader = Reader::new(&bytes);
            let mut read_levels = Coefficients::default();
            let any = read(
                &mut reader,
                &probabilities,
                (&mut above_again, &mut left_again),
                has_y2,
                &MacroblockFactors::ONE,
                &mut read_levels,
            );
            prop_assert_eq!(&read_levels, &levels);
            prop_assert_eq!(any, levels.ends.iter().any(|&end| end > 0));
            prop_assert_eq!((above, left), (above_again, left_again));
        }
    }
}
