//! Retransmissions in a separate stream (RFC 4588): the original's sequence number, then its payload.

use alloc::vec::Vec;

use crate::ParseError;
use crate::reader::Reader;

/// The payload of a retransmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retransmission<'a> {
    /// The sequence number of the original packet in its own stream.
    pub original_sequence: u16,
    /// The original packet's payload.
    pub payload: &'a [u8],
}

impl<'a> Retransmission<'a> {
    /// Parses the payload of an RTX packet (without padding; a padding-only packet has none and is not a
    /// retransmission).
    ///
    /// # Errors
    /// Fewer than 2 bytes.
    pub fn parse(payload: &'a [u8]) -> Result<Retransmission<'a>, ParseError> {
        let mut reader = Reader::new(payload);
        let original_sequence = reader.u16("original sequence number")?;
        Ok(Retransmission { original_sequence, payload: reader.rest() })
    }

    /// Appends the payload of the RTX packet to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.original_sequence.to_be_bytes());
        out.extend_from_slice(self.payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retransmission_is_the_original_sequence_and_then_the_payload() {
        let mut out = Vec::new();
        let packet = Retransmission { original_sequence: 0x1234, payload: &[7, 8] };
        packet.write(&mut out);
        assert_eq!(out, [0x12, 0x34, 7, 8]);
        assert_eq!(Retransmission::parse(&out), Ok(packet));
        assert!(Retransmission::parse(&[1]).is_err());
    }
}
