//! A decoder's states, for codecs and receivers that keep them.

use core::fmt;

/// A decoder's state by its hash: equal hashes, equal pictures from here on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateHash(pub u64);

impl StateHash {
    /// What a receiver says whose decoder is in a state that the sender cannot know: something was missed.
    pub const UNKNOWN: StateHash = StateHash(u64::MAX);
}

impl fmt::Display for StateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The states that a frame leads from and to (Salsify section 3.2: every packet carries both hashes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// The decoder's state it must be decoded from.
    pub source: StateHash,
    /// The decoder's state after it.
    pub target: StateHash,
}
