//! What keeps the path full when there is no media.
//!
//! * `dummies`: when there is room for any, and that they never make a frame wait (Vidaptive's dummy generator);
//! * `redundant`: what they are made of, if of anything: FEC, retransmissions, an early keyframe (specs/fec.md 4).

mod dummies;
pub mod redundant;

pub use dummies::{Config, Dummies, Verdict};
pub use redundant::RedundantPadding;
