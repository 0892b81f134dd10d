//! Padding: what keeps the path full when there is no media.
//!
//! * `dummies`: when padding may leave without making a frame wait (Vidaptive's dummy generator);
//! * `redundant`: what padding carries, if anything: FEC, retransmissions, an early keyframe (specs/fec.md 4).

mod dummies;
pub mod redundant;

pub use dummies::{Config, Dummies, Verdict};
pub use redundant::RedundantPadding;
