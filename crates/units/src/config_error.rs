//! The error of a configuration that cannot work.

use alloc::string::String;
use core::fmt;

/// A configuration cannot work: a value is out of range, and the message has the value, the range and the fix; or a part
/// cannot be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(String);

impl ConfigError {
    /// The error message: `field` is `value`, but must be `range`.
    pub fn out_of_range(field: &str, value: impl fmt::Display, range: impl fmt::Display) -> ConfigError {
        ConfigError(alloc::format!("{field} is {value}, must be {range}"))
    }

    /// The error of a part that cannot be had for another reason.
    pub fn because(why: impl fmt::Display) -> ConfigError {
        ConfigError(alloc::format!("{why}"))
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for ConfigError {}
