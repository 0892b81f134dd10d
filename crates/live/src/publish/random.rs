//! What must be hard to guess.

use super::PublishError;

/// 64 bits of the system's randomness.
pub(super) fn bits() -> Result<u64, PublishError> {
    getrandom::u64().map_err(|error| PublishError::Random(error.to_string()))
}
