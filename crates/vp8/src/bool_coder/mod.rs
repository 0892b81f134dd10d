//! The arithmetic coder under everything (RFC 6386 section 7): a sequence of bools, each with the probability that it
//! is false, in 256ths.

mod reader;
mod writer;

pub use reader::Reader;
pub use writer::{Burst, Writer};

/// The probability that a bool is false, in 256ths: 1 to 255, and 0 is taken as the coder takes it, the least there is.
pub type Probability = u8;

/// For a bool that is as likely true as false.
pub const EVEN: Probability = 128;
