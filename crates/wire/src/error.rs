//! What can be wrong with bytes, and with values that are to become bytes.

use core::fmt;

/// Why bytes are not what they should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseError {
    /// The input ends before the field does.
    Short {
        /// The field.
        what: &'static str,
        /// Where it starts, in bytes from the start of the input.
        at: usize,
        /// Bytes it takes.
        needed: usize,
        /// Bytes there are.
        found: usize,
    },
    /// A field holds a value it must not.
    OutOfRange {
        /// The field.
        what: &'static str,
        /// Where it starts, in bytes from the start of the input.
        at: usize,
        /// Its value.
        found: u64,
        /// Smallest allowed value.
        least: u64,
        /// Largest allowed value.
        most: u64,
    },
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseError::Short { what, at, needed, found } => {
                write!(f, "{what} at byte {at} takes {needed} bytes, the input has {found} left")
            }
            ParseError::OutOfRange { what, at, found, least, most } => {
                write!(f, "{what} at byte {at} is {found}, allowed is {least} to {most}")
            }
        }
    }
}

impl core::error::Error for ParseError {}

/// Why values cannot be written: the format has no room for one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteError {
    /// The value.
    pub what: &'static str,
    /// What it is.
    pub found: u64,
    /// Smallest value the format has room for.
    pub least: u64,
    /// Largest value the format has room for.
    pub most: u64,
}

impl WriteError {
    /// Passes `found` if it lies in `least..=most`.
    pub(crate) fn check(what: &'static str, found: u64, least: u64, most: u64) -> Result<(), WriteError> {
        if (least..=most).contains(&found) { Ok(()) } else { Err(WriteError { what, found, least, most }) }
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}, the wire has room for {} to {}", self.what, self.found, self.least, self.most)
    }
}

impl core::error::Error for WriteError {}
