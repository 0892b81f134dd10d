//! The header extensions a sender uses, each an element's data.

use thalweg_units::{Span, Time};

use crate::{ParseError, WriteError};

/// The names extensions are negotiated by in SDP.
pub mod uri {
    /// Transport-wide sequence number, feedback at the receiver's pace ([`super::TransportSequence`] without a request).
    pub const TRANSPORT_CC_01: &str = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01";
    /// Transport-wide sequence number with feedback on request.
    pub const TRANSPORT_CC_02: &str = "http://www.webrtc.org/experiments/rtp-hdrext/transport-wide-cc-02";
    /// [`super::AbsoluteSendTime`].
    pub const ABSOLUTE_SEND_TIME: &str = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time";
    /// [`super::PlayoutDelay`].
    pub const PLAYOUT_DELAY: &str = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay";
    /// The media section a packet belongs to, as text (RFC 9143).
    pub const MID: &str = "urn:ietf:params:rtp-hdrext:sdes:mid";
    /// The encoding a packet belongs to, as text (RFC 8852).
    pub const RID: &str = "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id";
}

/// What a packet asks of the receiver (transport-wide-cc-02; `docs/native-code/rtp-hdrext/transport-wide-cc-02` of libwebrtc).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedbackRequest {
    /// Whether arrival times are wanted.
    pub timestamps: bool,
    /// How many packets up to and with this one the feedback covers, 1 to 32767.
    pub count: u16,
}

/// The transport-wide sequence number, with or without a request for feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransportSequence {
    /// The low 16 bits of the sender's packet number.
    pub sequence: u16,
    /// `None` for the 2-byte form of -01; for the 4-byte form of -02 the request, which may be for nothing.
    pub request: Option<Option<FeedbackRequest>>,
}

impl TransportSequence {
    /// Reads the 2- or 4-byte form; which it is tells -01 from -02.
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

    /// The bytes of the extension; [`Self::size`] of them count.
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

/// When a packet left, in 2^-18 s modulo 64 s (24 bits).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AbsoluteSendTime(u32);

impl AbsoluteSendTime {
    /// The instant `time`, rounded down to the tick of 3.8 µs.
    pub fn at(time: Time) -> AbsoluteSendTime {
        let ticks = (u128::from(time.as_nanos()) << 18) / 1_000_000_000;
        AbsoluteSendTime((ticks & 0xff_ffff) as u32)
    }

    /// The 24 bits.
    pub fn ticks(self) -> u32 {
        self.0
    }

    /// Reads the 3 bytes.
    ///
    /// # Errors
    /// Any other length.
    pub fn parse(data: &[u8]) -> Result<AbsoluteSendTime, ParseError> {
        match *data {
            [a, b, c] => Ok(AbsoluteSendTime(u32::from_be_bytes([0, a, b, c]))),
            _ => Err(wrong_length("absolute send time", data, 3, 3)),
        }
    }

    /// The bytes of the extension.
    pub fn to_bytes(self) -> [u8; 3] {
        let [_, a, b, c] = self.0.to_be_bytes();
        [a, b, c]
    }
}

/// The least and the most a receiver may hold a frame before showing it; both zero means at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayoutDelay {
    /// The least, 0 to 40.95 s in steps of 10 ms.
    pub least: Span,
    /// The most, 0 to 40.95 s in steps of 10 ms.
    pub most: Span,
}

impl PlayoutDelay {
    /// Reads the 3 bytes: 12 bits each, in units of 10 ms.
    ///
    /// # Errors
    /// Any other length.
    pub fn parse(data: &[u8]) -> Result<PlayoutDelay, ParseError> {
        let [a, b, c] = *data else { return Err(wrong_length("playout delay", data, 3, 3)) };
        let word = u32::from_be_bytes([0, a, b, c]);
        let span = |units: u32| Span::from_millis(10 * i64::from(units));
        Ok(PlayoutDelay { least: span(word >> 12), most: span(word & 0xfff) })
    }

    /// The bytes of the extension; delays are rounded down to 10 ms.
    ///
    /// # Errors
    /// A delay below zero or above 40.95 s (shown in units of 10 ms).
    pub fn to_bytes(self) -> Result<[u8; 3], WriteError> {
        let units = |what, span: Span| {
            let units = u64::try_from(span.as_nanos()).map_or(u64::MAX, |nanos| nanos / 10_000_000);
            WriteError::check(what, units, 0, 0xfff).map(|()| units as u32)
        };
        let word =
            units("least playout delay in 10 ms", self.least)? << 12 | units("most playout delay in 10 ms", self.most)?;
        let [_, a, b, c] = word.to_be_bytes();
        Ok([a, b, c])
    }
}

fn wrong_length(what: &'static str, data: &[u8], least: u64, most: u64) -> ParseError {
    ParseError::OutOfRange { what, at: 0, found: data.len() as u64, least, most }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    #[test]
    fn the_send_time_counts_quarter_millionths_of_a_second_and_wraps_at_64_s() {
        assert_eq!(AbsoluteSendTime::at(Time::from_millis(1000)).to_bytes(), [0x04, 0, 0]);
        assert_eq!(AbsoluteSendTime::at(Time::from_millis(500)).ticks(), 1 << 17);
        assert_eq!(AbsoluteSendTime::at(Time::from_millis(64_250)).ticks(), 1 << 16);
        assert_eq!(AbsoluteSendTime::parse(&[0x04, 0, 0]), Ok(AbsoluteSendTime::at(Time::from_millis(65_000))));
        assert!(AbsoluteSendTime::parse(&[0; 4]).is_err());
    }

    #[test]
    fn playout_delays_are_two_times_12_bits_of_10_ms() {
        let delay = PlayoutDelay { least: Span::from_millis(100), most: Span::from_millis(40_950) };
        assert_eq!(delay.to_bytes(), Ok([0x00, 0xaf, 0xff]));
        assert_eq!(PlayoutDelay::parse(&[0x00, 0xaf, 0xff]), Ok(delay));
        assert!(PlayoutDelay { least: Span::from_millis(-10), ..delay }.to_bytes().is_err());
        assert!(PlayoutDelay { most: Span::from_millis(40_960), ..delay }.to_bytes().is_err());
        assert!(PlayoutDelay::parse(&[0; 2]).is_err());
    }

    proptest! {
        #[test]
        fn every_24_bits_are_a_send_time_and_a_playout_delay(bytes: [u8; 3]) {
            prop_assert_eq!(AbsoluteSendTime::parse(&bytes).unwrap().to_bytes(), bytes);
            prop_assert_eq!(PlayoutDelay::parse(&bytes).unwrap().to_bytes(), Ok(bytes));
        }
    }
}
