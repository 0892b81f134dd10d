//! A name for a state.

use super::State;

/// A hash of a [`State`]: 64 bits that are the same for equal states on every machine and in every version of this crate that reads
/// the [bytes](State::to_bytes) of the other, and differ for others but by a chance of one in 2^64. It is meant for packet headers,
/// where sender and receiver tell each other which states they have, and not against forgery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateHash(pub u64);

impl std::fmt::Display for StateHash {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

impl State {
    /// The state's hash. Each picture is read once, when its hash is first asked for.
    #[must_use]
    pub fn hash(&self) -> StateHash {
        let mut bytes = self.bytes_but_pictures();
        for picture in self.references.iter().flat_map(|references| references.all()) {
            bytes.extend(picture.hash().to_le_bytes());
        }
        StateHash(xxhash_rust::xxh3::xxh3_64(&bytes))
    }
}
