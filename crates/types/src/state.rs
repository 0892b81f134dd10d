//! Decoder states, for stateful codecs and receivers.

use core::fmt;

/// A decoder's state, identified by its hash: decoders with equal hashes decode equal pictures from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateHash(pub u64);

impl StateHash {
    /// Reported by a receiver whose decoder is in a state that the sender cannot know, after a loss.
    pub const UNKNOWN: StateHash = StateHash(u64::MAX);
}

impl fmt::Display for StateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The states before and after a frame (Salsify section 3.2: every packet carries both hashes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// The decoder's state that the frame must be decoded from.
    pub source: StateHash,
    /// The decoder's state after it.
    pub target: StateHash,
}
