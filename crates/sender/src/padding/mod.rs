//! Padding: what keeps the path full when there is no media.
//!
//! * `continuous`: when padding leaves that a controller asks for by a rate;
//! * `dummies`: when padding may leave without making a frame wait (Vidaptive's dummy generator);
//! * `redundant`: what padding carries, if anything: FEC, retransmissions, an early keyframe (specs/fec.md 4).

mod continuous;
mod dummies;
pub mod redundant;

pub use continuous::Continuous;
pub use dummies::{Config, Dummies, Verdict};
pub use redundant::RedundantPadding;
