//! The transport-wide sequence number of a packet, and its feedback request.

use super::wrong_length;
use crate::{ParseError, WriteError};

/// A packet's feedback request to the receiver (transport-wide-cc-02;
/// `docs/native-code/rtp-hdrext/transport-wide-cc-02` of libwebrtc).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedbackRequest {
    /// True if arrival times are requested.
    pub timestamps: bool,
    /// Number of packets up to and including this one that the feedback covers, 1 to 32767.
    pub count: u16,
}

/// The transport-wide sequence number, with or without a request for feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransportSequence {
    /// The low 16 bits of the sender's packet number.
    pub sequence: u16,
    /// `None` for the 2-byte form of -01; for the 4-byte form of -02 the request, if there is one.
    pub request: Option<Option<FeedbackRequest>>,
}

impl TransportSequence {
    /// Parses the 2- or 4-byte form; the length distinguishes -01 from -02.
    ///
    /// # Errors
    /// Any other length.
    pub fn parse(data: &[u8]) -> Result<TransportSequence, ParseError> {
        match *data {
            [a, b] => Ok(TransportSequence { sequence: u16::from_be_bytes([a, b]), request: None }),
            [a, b, c, d] => {
                let word = u16::from_be_bytes([c, d]);
                let request = FeedbackRequest { timestamps: word & 0x8000 != 0, count: word & 0x7fff };
                let request = if request.count == 0 { None } else { Some(request) };
                Ok(TransportSequence { sequence: u16::from_be_bytes([a, b]), request: Some(request) })
            }
            _ => Err(wrong_length("transport-wide sequence number", data, 2, 4)),
        }
    }

    /// Serialises the extension; only the first [`Self::size`] bytes are used.
    ///
    /// # Errors
    /// A request for 0 or more than 32767 packets.
    pub fn to_bytes(self) -> Result<[u8; 4], WriteError> {
        let word = match self.request.flatten() {
            None => 0,
            Some(request) => {
                WriteError::check("packets of a feedback request", u64::from(request.count), 1, 0x7fff)?;
                u16::from(request.timestamps) << 15 | request.count
            }
        };
        let ([a, b], [c, d]) = (self.sequence.to_be_bytes(), word.to_be_bytes());
        Ok([a, b, c, d])
    }

    /// 2 for -01, 4 for -02.
    pub fn size(self) -> usize {
        if self.request.is_some() { 4 } else { 2 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_tells_a_request_from_a_plain_sequence_number() {
        let plain = TransportSequence { sequence: 0x1234, request: None };
        assert_eq!(plain.to_bytes().unwrap()[..plain.size()], [0x12, 0x34]);
        let ask = FeedbackRequest { timestamps: true, count: 5 };
        let asking = TransportSequence { sequence: 0x1234, request: Some(Some(ask)) };
        assert_eq!(asking.to_bytes().unwrap()[..asking.size()], [0x12, 0x34, 0x80, 0x05]);
        let silent = TransportSequence { sequence: 0x1234, request: Some(None) };
        assert_eq!(silent.to_bytes().unwrap()[..silent.size()], [0x12, 0x34, 0, 0]);
        for value in [plain, asking, silent] {
            assert_eq!(TransportSequence::parse(&value.to_bytes().unwrap()[..value.size()]), Ok(value));
        }
        let message = alloc::string::ToString::to_string(&TransportSequence::parse(&[1, 2, 3]).unwrap_err());
        assert!(message.contains("is 3, allowed is 2 to 4"), "{message}");
    }

    #[test]
    fn a_request_for_no_or_too_many_packets_is_refused() {
        for count in [0, 0x8000] {
            let ask = FeedbackRequest { timestamps: false, count };
            assert!(TransportSequence { sequence: 0, request: Some(Some(ask)) }.to_bytes().is_err());
        }
    }
}
