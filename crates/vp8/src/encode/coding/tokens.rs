//! Coefficients as tokens: recorded and counted first, written when the frame's probabilities are known.
//!
//! The best probabilities of a frame follow from its tokens, so a frame is coded in two passes; a token takes four
//! bytes between them.

use crate::bool_coder::{Burst, Writer};
use crate::encode::cost;
use crate::kernels::Block;
use crate::pool::{Pool, Scratch};
use crate::syntax::tokens::{BANDS, RANGES, ZIGZAG};
use crate::syntax::{BlockKind, CoefficientProbabilities};

/// Number of contexts: block kinds, bands and neighbour contexts in one index, which selects a set of eleven
/// probabilities.
pub const CONTEXTS: usize = 4 * 8 * 3;

/// The number of tokens: levels 0 to 4, six categories, the end of a block.
pub const TOKENS: usize = 12;
/// The token of the end of a block.
pub const END: u8 = 11;

/// The token of each level below 67; larger ones belong to the last category.
const TOKEN_OF_LEVEL: [u8; 67] = {
    let mut tokens = [0; 67];
    let mut level = 0;
    while level < 67 {
        let mut token = if level < 5 { level } else { 4 };
        let mut category = 0;
        while category < 5 {
            if level >= RANGES[category].1 as usize {
                token = 5 + category;
            }
            category += 1;
        }
        tokens[level] = token as u8;
        level += 1;
    }
    tokens
};

/// The token of a level's magnitude.
#[inline(always)]
pub fn token_of(magnitude: u16) -> u8 {
    if magnitude < 67 { TOKEN_OF_LEVEL[magnitude as usize] } else { 10 }
}

/// Cost of the bits after each token, including the sign, in 256ths of a bit. For a category it is the mean: its bits
/// are nearly even.
#[inline(always)]
pub const fn extra_cost(token: u8) -> u32 {
    const COSTS: [u32; TOKENS] = {
        let mut costs = [0; TOKENS];
        let mut token = 1;
        while token < 11 {
            costs[token] = 256;
            if token >= 5 {
                let probabilities = RANGES[token - 5].0;
                let mut bit = 0;
                while bit < probabilities.len() {
                    let probability = probabilities[bit];
                    // The last category's first bits are nearly always false.
                    let (no, yes) = (cost::of_bool(probability, false), cost::of_bool(probability, true));
                    costs[token] += if probability > 200 { no } else { (no + yes) / 2 };
                    bit += 1;
                }
            }
            token += 1;
        }
        costs
    };
    COSTS[token as usize]
}

static RECORDED: Pool<u32> = Pool::new(3);

/// A frame's tokens.
#[derive(Debug)]
pub struct Tokens {
    /// From the lowest bit: 4 bits of token, whether it follows a zero (where no end token is possible), 7 bits of
    /// context, and for a level its sign and its offset within the token's range.
    recorded: Scratch<u32>,
    /// Number of valid tokens; the rest of the buffer is to be overwritten.
    length: usize,
    /// The end of each row of macroblocks.
    rows: Vec<usize>,
    /// Counts of each token in each context, separately after a zero.
    counts: Box<[u32; KINDS_OF_TOKENS]>,
}

const AFTER_ZERO: u32 = 1 << 4;
const CONTEXT_SHIFT: u32 = 5;
const SIGN_SHIFT: u32 = 12;
const EXCESS_SHIFT: u32 = 13;
/// Number of values of the bits below the sign.
const KINDS_OF_TOKENS: usize = 1 << SIGN_SHIFT;

/// The symbol of a token in a context.
#[inline(always)]
const fn symbol(context: usize, token: u8) -> u32 {
    (context as u32) << CONTEXT_SHIFT | token as u32
}

/// The context of a block's first token, given how many of the blocks above and to the left have levels.
#[inline(always)]
fn first_context(kind: BlockKind, coded_beside: usize) -> usize {
    kind as usize * 24 + usize::from(BANDS[kind.first()]) * 3 + coded_beside
}

impl Tokens {
    /// Empty, with space for tokens.
    pub fn with_capacity(tokens: usize, rows: usize) -> Self {
        Self {
            recorded: Scratch::used(&RECORDED, tokens),
            length: 0,
            rows: Vec::with_capacity(rows),
            counts: Box::new([0; KINDS_OF_TOKENS]),
        }
    }

    /// Records a block of levels whose non-zero scan positions are the bits of `coded`; `context` is how many of the
    /// blocks above and to the left have levels.
    #[inline(always)]
    pub fn record(&mut self, kind: BlockKind, context: usize, levels: &Block, coded: u16) {
        match self.recorded.get_mut(self.length) {
            // Most blocks have only an end token.
            Some(recorded) if coded == 0 => {
                let symbol = symbol(first_context(kind, context), END);
                self.counts[symbol as usize % KINDS_OF_TOKENS] += 1;
                *recorded = symbol;
                self.length += 1;
            }
            _ => self.record_levels(kind, context, levels, coded),
        }
    }

    /// Records a block, and enlarges the buffer if necessary.
    #[inline(never)]
    fn record_levels(&mut self, kind: BlockKind, context: usize, levels: &Block, coded: u16) {
        if self.recorded.len() < self.length + 16 {
            let room = (self.recorded.len() * 2).max(self.recorded.capacity());
            self.recorded.resize(room.max(16), 0);
        }
        let (symbols, _) = self.recorded[self.length..].split_first_chunk_mut::<16>().expect("there is room");
        let base = kind as usize * 24;
        let mut context = first_context(kind, context);
        let (mut after_zero, mut count) = (0, 0);
        let end = 16 - coded.leading_zeros() as usize;
        for place in kind.first()..end {
            let level = levels[usize::from(ZIGZAG[place & 15])];
            let magnitude = level.unsigned_abs();
            let token = token_of(magnitude);
            let mut symbol = symbol(context, token) | after_zero | u32::from(level < 0) << SIGN_SHIFT;
            if token > 4 {
                symbol |= u32::from(magnitude - RANGES[usize::from(token) - 5].1) << EXCESS_SHIFT;
            }
            self.counts[symbol as usize % KINDS_OF_TOKENS] += 1;
            symbols[count & 15] = symbol;
            count += 1;
            after_zero = if magnitude == 0 { AFTER_ZERO } else { 0 };
            context = base + usize::from(BANDS[(place & 15) + 1]) * 3 + usize::from(magnitude.min(2));
        }
        if end < 16 {
            let symbol = symbol(context, END);
            self.counts[symbol as usize % KINDS_OF_TOKENS] += 1;
            symbols[count & 15] = symbol;
            count += 1;
        }
        self.length += count;
    }

    /// Ends a row of macroblocks.
    pub fn end_row(&mut self) {
        self.rows.push(self.length);
    }

    /// Returns true if any token has this context.
    pub fn has(&self, context: usize) -> bool {
        self.counts[context << CONTEXT_SHIFT..][..32].iter().any(|&count| count > 0)
    }

    /// Counts of each branch of a context's tree: false, true.
    pub fn branches(&self, context: usize) -> [[u32; 2]; 11] {
        let (may_end, after_zero) = self.counts[context << CONTEXT_SHIFT..][..32].split_at(16);
        let counts: [u32; TOKENS] = std::array::from_fn(|token| may_end[token] + after_zero[token]);
        let sum = |from: usize, to: usize| counts[from..=to].iter().sum::<u32>();
        [
            [counts[usize::from(END)], may_end[..usize::from(END)].iter().sum()],
            [counts[0], sum(1, 10)],
            [counts[1], sum(2, 10)],
            [sum(2, 4), sum(5, 10)],
            [counts[2], sum(3, 4)],
            [counts[3], counts[4]],
            [sum(5, 6), sum(7, 10)],
            [counts[5], counts[6]],
            [sum(7, 8), sum(9, 10)],
            [counts[7], counts[8]],
            [counts[9], counts[10]],
        ]
    }

    /// Writes the tokens of one of `partitions` partitions: those of every `partitions`-th row.
    pub fn write(
        &self,
        writer: &mut Writer,
        probabilities: &CoefficientProbabilities,
        partition: usize,
        partitions: usize,
    ) {
        for row in (partition..self.rows.len()).step_by(partitions) {
            let start = if row == 0 { 0 } else { self.rows[row - 1] };
            writer.burst(|burst| {
                for &symbol in &self.recorded[start..self.rows[row]] {
                    write_token(burst, probabilities, symbol);
                }
            });
        }
    }
}

#[inline(always)]
fn write_token(writer: &mut Burst<'_>, probabilities: &CoefficientProbabilities, symbol: u32) {
    let context = (symbol >> CONTEXT_SHIFT & 0x7f) as usize;
    let token = (symbol & 0xf) as u8;
    let probabilities: &[u8; 11] = &probabilities.as_flattened().as_flattened()[context];
    if symbol & AFTER_ZERO == 0 {
        writer.bool(probabilities[0], token != END);
        if token == END {
            return;
        }
    }
    writer.bool(probabilities[1], token != 0);
    if token == 0 {
        return;
    }
    writer.bool(probabilities[2], token != 1);
    if token > 1 {
        writer.bool(probabilities[3], token > 4);
        if token <= 4 {
            writer.bool(probabilities[4], token > 2);
            if token > 2 {
                writer.bool(probabilities[5], token > 3);
            }
        } else {
            write_category(writer, probabilities, token, symbol >> EXCESS_SHIFT);
        }
    }
    writer.flag(symbol >> SIGN_SHIFT & 1 == 1);
}

#[inline(always)]
fn write_category(writer: &mut Burst<'_>, probabilities: &[u8; 11], token: u8, excess: u32) {
    writer.bool(probabilities[6], token > 6);
    if token <= 6 {
        writer.bool(probabilities[7], token > 5);
    } else {
        writer.bool(probabilities[8], token > 8);
        if token <= 8 {
            writer.bool(probabilities[9], token > 7);
        } else {
            writer.bool(probabilities[10], token > 9);
        }
    }
    let bits = RANGES[usize::from(token) - 5].0;
    for (place, &probability) in bits.iter().enumerate() {
        writer.bool(probability, excess >> (bits.len() - 1 - place) & 1 == 1);
    }
}
