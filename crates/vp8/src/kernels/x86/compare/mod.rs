//! Difference metrics of two blocks.

pub mod sad;
pub mod satd;
