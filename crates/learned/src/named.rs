//! Names of observations, actions and rewards, as text.

use std::fmt::Display;

use thalweg_units::ConfigError;

/// The one of `all` that is written like this.
///
/// # Errors
/// When there is none; the error lists the names. `what` says what they are names of.
pub(crate) fn parse<T: Copy + Display>(what: &str, all: &[T], name: &str) -> Result<T, ConfigError> {
    let found = all.iter().copied().find(|one| one.to_string() == name);
    found.ok_or_else(|| {
        let names: Vec<String> = all.iter().map(ToString::to_string).collect();
        ConfigError::because(format!("unknown {what} '{name}': expected one of {}", names.join(", ")))
    })
}
