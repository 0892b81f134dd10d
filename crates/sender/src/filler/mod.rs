//! What keeps the path full when there is no media.
//!
//! * `dummies`: when there is room for any, and that they never make a frame wait (Vidaptive's dummy generator);
//! * `useful`: what they are made of, if of anything: parity, repeats, an early keyframe (specs/fec.md 4).

mod dummies;
pub mod useful;

pub use dummies::{Config, Dummies, Verdict};
pub use useful::Useful;
