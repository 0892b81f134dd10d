//! The arithmetic coder of VP8 (RFC 6386 section 7): a sequence of bools, each with the probability that it is false,
//! in 256ths.

mod reader;
mod writer;

pub use reader::Reader;
pub use writer::{Burst, Writer};

/// The probability that a bool is false, in 256ths: 1 to 255; 0 is treated as the coder treats it, as the lowest
/// probability.
pub type Probability = u8;

/// Even odds.
pub const EVEN: Probability = 128;
