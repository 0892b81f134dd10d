//! Repeating what was lost.

mod retransmission;

pub use retransmission::{Config, Retransmissions};
