//! The transforms, of one block and of several adjacent ones.

pub mod dc;
pub mod forward;
pub mod inverse;
mod lanes;
pub mod walsh;
