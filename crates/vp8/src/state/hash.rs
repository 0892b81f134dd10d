//! Hashes that identify states.

use super::State;

/// A 64-bit hash of a [`State`]. It is the same for equal states on every machine and in all versions of this crate
/// that can read each other's [bytes](State::to_bytes); different states have the same hash with a probability of
/// 2^-64. It is meant for packet headers, in which sender and receiver report the states that they have, and gives no
/// protection against forgery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateHash(pub u64);

impl std::fmt::Display for StateHash {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

impl State {
    /// The state's hash. Each picture is hashed only once.
    #[must_use]
    pub fn hash(&self) -> StateHash {
        let mut bytes = self.bytes_but_pictures();
        for picture in self.references.iter().flat_map(|references| references.all()) {
            bytes.extend(picture.hash().to_le_bytes());
        }
        StateHash(xxhash_rust::xxh3::xxh3_64(&bytes))
    }
}
