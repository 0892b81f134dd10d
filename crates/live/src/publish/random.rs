//! Random numbers that must be hard to guess.

use super::PublishError;

/// 64 random bits from the system.
pub(super) fn bits() -> Result<u64, PublishError> {
    getrandom::u64().map_err(|error| PublishError::Random(error.to_string()))
}
