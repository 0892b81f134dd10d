//! From bools to coefficients.

use super::{BANDS, BlockKind, Coefficients, EDGES, EdgeContext, Factors, MacroblockFactors, RANGES, Y2, ZIGZAG};
use crate::bool_coder::{Probability, Reader};
use crate::kernels::Block;
use crate::syntax::CoefficientProbabilities;

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
