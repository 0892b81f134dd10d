//! The transforms, of one block and of several beside each other.

pub mod dc;
pub mod forward;
pub mod inverse;
mod lanes;
pub mod walsh;
