//! Writing levels.

use super::{BANDS, BlockKind, Coefficients, EDGES, EdgeContext, RANGES, Y2, ZIGZAG};
use crate::bool_coder::{EVEN, Probability, Writer};
use crate::kernels::Block;
use crate::syntax::CoefficientProbabilities;

/// Writes the levels of a macroblock: the format that [`read`](super::read) reads with
/// [`MacroblockFactors::ONE`](super::MacroblockFactors::ONE).
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
    /// A bool whose probability a frame may change.
    Token {
        /// The kind of block: the first index of the probability.
        kind: BlockKind,
        /// The band: the second index.
        band: usize,
        /// The context: the third index.
        context: usize,
        /// The node: the fourth index.
        node: usize,
        /// The bool.
        bool: bool,
    },
    /// A sign, or an additional bit of a range.
    Fixed {
        /// The probability.
        probability: Probability,
        /// The bool.
        bool: bool,
    },
}

/// Calls `step` with each bool that codes the levels of a macroblock, in order. Encoders use it to count or price
/// bools.
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

/// Calls `step` with each bool that codes the levels of a block whose positions before `end` are coded.
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
    use proptest::prelude::*;

    use super::super::{MacroblockFactors, read};
    use super::*;
    use crate::bool_coder::Reader;
    use crate::syntax::Probabilities;

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
