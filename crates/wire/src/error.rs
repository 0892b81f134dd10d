//! Errors of parsing and of writing.

use core::fmt;

/// Why bytes cannot be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseError {
    /// The input ends before the field does.
    Short {
        /// The field.
        what: &'static str,
        /// Where it starts, in bytes from the start of the input.
        at: usize,
        /// Bytes needed.
        needed: usize,
        /// Bytes available.
        found: usize,
    },
    /// A field has a value outside the allowed range.
    OutOfRange {
        /// The field.
        what: &'static str,
        /// Where it starts, in bytes from the start of the input.
        at: usize,
        /// Its value.
        found: u64,
        /// Smallest allowed value.
        min: u64,
        /// Largest allowed value.
        max: u64,
    },
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseError::Short { what, at, needed, found } => {
                write!(
                    f,
                    "{what} at byte {at} takes {needed} bytes, the input has {found} left: hand over the whole datagram, or \
                     drop it if it is"
                )
            }
            ParseError::OutOfRange { what, at, found, min, max } => {
                write!(f, "{what} at byte {at} is {found}, allowed is {min} to {max}: drop the packet")
            }
        }
    }
}

impl core::error::Error for ParseError {}

/// Why values cannot be written: the format has no room for one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteError {
    /// The name of the value.
    pub what: &'static str,
    /// The value itself.
    pub found: u64,
    /// Smallest value the format can represent.
    pub min: u64,
    /// Largest value the format can represent.
    pub max: u64,
}

impl WriteError {
    /// Returns an error unless `found` is in `min..=max`.
    pub(crate) fn check(what: &'static str, found: u64, min: u64, max: u64) -> Result<(), WriteError> {
        if (min..=max).contains(&found) { Ok(()) } else { Err(WriteError { what, found, min, max }) }
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WriteError { what, found, min, max } = self;
        write!(f, "{what} is {found}, the wire has room for {min} to {max}: choose a value in that range")
    }
}

impl core::error::Error for WriteError {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn every_error_says_field_value_range_and_what_to_do() {
        let short = ParseError::Short { what: "RTP SSRC", at: 8, needed: 4, found: 2 }.to_string();
        let range = ParseError::OutOfRange { what: "RTP version", at: 0, found: 1, min: 2, max: 2 }.to_string();
        let write = WriteError::check("RTP payload type", 128, 0, 127).unwrap_err().to_string();
        for (message, parts) in [
            (short, ["RTP SSRC at byte 8", "takes 4 bytes", "has 2 left", "drop it"]),
            (range, ["RTP version at byte 0", "is 1", "2 to 2", "drop the packet"]),
            (write, ["RTP payload type", "is 128", "0 to 127", "choose a value"]),
        ] {
            assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        }
    }
}
