//! What macroblocks are predicted to look like: from their own frame ([`intra`], RFC 6386 section 12) or from another
//! ([`inter`], section 18). These functions take planes and modes and know nothing of bitstreams, so that a decoder and an encoder
//! share them.

mod clamped;
pub mod inter;
pub mod intra;
mod subblock;

pub use inter::{InterPredictor, Interpolation};
