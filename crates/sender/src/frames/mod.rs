//! Which frames to make, and how large.

mod plan;

pub use plan::{EncodePlan, EncodedFrame, Target};
