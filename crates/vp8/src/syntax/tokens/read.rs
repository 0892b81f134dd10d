//! Reading coefficients.

use super::{BANDS, BlockKind, Coefficients, EDGES, EdgeContext, Factors, MacroblockFactors, RANGES, Y2, ZIGZAG};
use crate::bool_coder::{Probability, Reader};
use crate::kernels::Block;
use crate::syntax::CoefficientProbabilities;

/// Reads the coefficients of a macroblock, dequantised, into blocks that must be zero. Returns whether there are any.
#[inline]
pub fn read(
    reader: &mut Reader<'_>,
    probabilities: &CoefficientProbabilities,
    (above, left): (&mut EdgeContext, &mut EdgeContext),
    has_y2: bool,
    factors: &MacroblockFactors,
    coefficients: &mut Coefficients,
) -> bool {
    let luma = if has_y2 { BlockKind::LumaWithoutFirst } else { BlockKind::Luma };
    let mut any = false;
    coefficients.ends[Y2] = 0;
    // A local reader stays in registers, provided that all blocks are read in one place.
    let mut local = reader.clone();
    for &block in &BLOCKS[usize::from(!has_y2)..] {
        let block = usize::from(block);
        let (kind, factors) = match block {
            Y2 => (BlockKind::Y2, &factors.y2),
            16.. => (BlockKind::Chroma, &factors.chroma),
            _ => (luma, &factors.luma),
        };
        let (x, y) = EDGES[block];
        let (above, left) = (&mut above[usize::from(x)], &mut left[usize::from(y)]);
        let (probabilities, first) = (&probabilities[kind as usize], kind.first());
        let node = &probabilities[usize::from(BANDS[first])][usize::from(*above + *left)];
        let is_coded = local.bool(node[0]);
        (*above, *left) = (is_coded.into(), is_coded.into());
        coefficients.ends[block] = 0;
        if is_coded {
            any = true;
            let target = &mut coefficients.blocks[block];
            coefficients.ends[block] = read_coded(&mut local, probabilities, node, first, factors, target) as u8;
        }
    }
    *reader = local;
    any
}

/// The blocks of a macroblock in the order of coding, the Y2 block first.
const BLOCKS: [u8; 25] = [24, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23];

/// Reads a block that is known not to end at a position; returns the position after the last coded one.
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
/// Reads a magnitude above 1.
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
