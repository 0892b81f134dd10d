//! Parity that does not belong to the packets it is said to be over.

use core::fmt;

use crate::ParseError;

/// Why a parity packet and the packets under it do not belong together; it is of no use any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Corrupt {
    /// A packet that is held is not of the set: shorter than a header, longer than the sum, or of another stream or
    /// number.
    Held {
        /// The number it was held under.
        sequence: u16,
    },
    /// What is left is longer than what was summed.
    Length {
        /// The length that came out, in bytes after the header.
        found: u16,
        /// The length of the sum.
        most: usize,
    },
    /// Beyond the end of what is left not all is zero.
    Tail,
    /// What is left is no RTP packet.
    Packet(ParseError),
}

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Corrupt::Held { sequence } => write!(f, "packet {sequence} is not the one under this parity")?,
            Corrupt::Length { found, most } => {
                write!(f, "a recovered packet of {found} bytes out of a sum of {most}, allowed is up to that many")?;
            }
            Corrupt::Tail => f.write_str("a recovered packet goes on behind its end")?,
            Corrupt::Packet(error) => write!(f, "what was recovered is no packet: {error}")?,
        }
        f.write_str("; drop the parity packet, and blank what senders change on the way")
    }
}

impl core::error::Error for Corrupt {}
