//! Prediction of macroblocks: from their own frame ([`intra`], RFC 6386 section 12) or from another ([`inter`], section
//! 18). These functions take planes and modes and are independent of the bitstream, so that decoder and encoder share
//! them.

mod clamped;
pub mod inter;
pub mod intra;
mod subblock;

pub use inter::{InterPredictor, Interpolation};
