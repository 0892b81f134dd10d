//! Feedback for a packet of functional video: the interarrival time, and the states that the decoder has.

use alloc::vec::Vec;

use thalweg_units::Span;

use super::PAYLOAD;
use super::application_feedback::FORMAT;
use super::header::{Header, frame};
use crate::{ParseError, WriteError, micros};

/// Identifier among application layer feedback.
pub(super) const IDENTIFIER: [u8; 4] = *b"SLFY";

/// Acknowledges one packet of functional video and reports the decoder's states to the sender.
///
/// Salsify's receiver answers every packet with it (NSDI 2018; Salsify section 3; `AckPacket` in `src/net/packet.cc` of
/// excamera/alfalfa: connection u16, frame u32, fragment u16, average delay u32 in microseconds, current state u32,
/// number of complete states u32 and as many u32, little-endian). Here it is application layer feedback (RFC 4585
/// section 6.4). After the SSRCs and the identifier "SLFY", most significant byte first and all in whole words:
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                          frame number                         |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |        fragment number        |   reserved    |  states, n    |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |               mean interarrival time, microseconds            |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                    current state, 64 bits                     |
/// |                                                               |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |               complete states, n times 64 bits                |
/// ```
///
/// The reserved byte is written as 0 and ignored when read, as is everything after the last state: both are room for
/// later versions. The states have 64 bits for [a reason](crate::rtp#functional-video). With n states the packet takes
/// 36 + 8 n bytes, so 145 states fit into 1200 bytes; a receiver keeps far fewer, because it drops those older than the
/// one a frame was last coded from.
///
/// The content is untrusted: anything a receiver sends must parse, and the sender looks up every state among those it
/// has sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecoderState {
    /// SSRC of the receiver with the decoder.
    pub sender_ssrc: u32,
    /// SSRC of the packet's stream.
    pub media_ssrc: u32,
    /// The packet's frame: the low 32 bits of its number, as [`FrameFragment`](crate::rtp::FrameFragment) has it.
    pub frame: u32,
    /// The number of the fragment in its frame.
    pub fragment: u16,
    /// The mean interarrival time of packets, less their grace periods: an exponentially weighted moving average, zero
    /// before the second packet. Not negative; written in whole microseconds, rounded down, and at most 4294.967295 s.
    pub interarrival: Span,
    /// The decoder's current state, which the sender does not know if it results from an incomplete frame.
    pub current: u64,
    /// States the decoder can return to, each the result of a complete frame; at most 255, the newest last.
    pub complete: Vec<u64>,
}

impl DecoderState {
    /// Max number of complete states in a message.
    pub const MAX: usize = 255;

    pub(super) fn parse(header: &Header<'_>) -> Result<DecoderState, ParseError> {
        let mut reader = header.body();
        let sender_ssrc = reader.u32("decoder state sender SSRC")?;
        let media_ssrc = reader.u32("decoder state media SSRC")?;
        // Already checked.
        reader.u32("decoder state identifier")?;
        let frame = reader.u32("decoder state frame number")?;
        let fragment = reader.u16("decoder state fragment number")?;
        reader.u8("decoder state reserved byte")?;
        let at = reader.at();
        let count = reader.u8("decoder state count")?;
        let interarrival = Span::from_micros(reader.u32("decoder state interarrival time")?.into());
        let current = reader.u64("decoder state")?;
        let room = (reader.left() / 8).min(DecoderState::MAX) as u64;
        if u64::from(count) > room {
            let what = "number of complete decoder states";
            return Err(ParseError::OutOfRange { what, at, found: count.into(), min: 0, max: room });
        }
        let complete = (0..count).map(|_| reader.u64("complete decoder state")).collect::<Result<_, _>>()?;
        Ok(DecoderState { sender_ssrc, media_ssrc, frame, fragment, interarrival, current, complete })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        frame(out, PAYLOAD, FORMAT, |out| {
            WriteError::check("complete decoder states", self.complete.len() as u64, 0, DecoderState::MAX as u64)?;
            let what = "microseconds by which an interarrival time is below zero";
            let interarrival = micros::whole(what, self.interarrival, u32::MAX)?;
            out.extend_from_slice(&self.sender_ssrc.to_be_bytes());
            out.extend_from_slice(&self.media_ssrc.to_be_bytes());
            out.extend_from_slice(&IDENTIFIER);
            out.extend_from_slice(&self.frame.to_be_bytes());
            out.extend_from_slice(&self.fragment.to_be_bytes());
            out.extend_from_slice(&[0, self.complete.len() as u8]);
            out.extend_from_slice(&interarrival.to_be_bytes());
            out.extend_from_slice(&self.current.to_be_bytes());
            out.extend(self.complete.iter().flat_map(|state| state.to_be_bytes()));
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::{Packet, parse, testing};
    use proptest::prelude::*;

    fn of(complete: &[u64]) -> DecoderState {
        DecoderState {
            sender_ssrc: 0x0102_0304,
            media_ssrc: 0x0506_0708,
            frame: 0x1112_1314,
            fragment: 0x2122,
            interarrival: Span::from_micros(0x3132_3334),
            current: 0x4142_4344_4546_4748,
            complete: complete.to_vec(),
        }
    }

    fn bytes_of(message: &DecoderState) -> Vec<u8> {
        let mut out = Vec::new();
        message.write(&mut out).unwrap();
        out
    }

    #[test]
    fn every_field_has_its_place_in_the_bytes() {
        let head = [0x8f, 206, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8, b'S', b'L', b'F', b'Y'];
        let body = [0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0, 0, 0x31, 0x32, 0x33, 0x34];
        let current = 0x4142_4344_4546_4748u64.to_be_bytes();
        let mut bytes = [&head[..], &body, &current].concat();
        testing::is_written_as(&Packet::DecoderState(of(&[])), &bytes);
        bytes[3] = 12;
        bytes[23] = 2;
        bytes.extend([0, 0, 0, 0, 0, 0, 0, 9, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58]);
        testing::is_written_as(&Packet::DecoderState(of(&[9, 0x5152_5354_5556_5758])), &bytes);
    }

    #[test]
    fn a_count_that_the_packet_has_no_room_for_is_refused_with_what_it_has_room_for() {
        let mut bytes = bytes_of(&of(&[1, 2]));
        for count in 3..=255 {
            bytes[23] = count;
            let what = "number of complete decoder states";
            let error = ParseError::OutOfRange { what, at: 23, found: count.into(), min: 0, max: 2 };
            assert_eq!(parse(&bytes), Err(error));
        }
        // An additional word is not a state.
        bytes[3] += 1;
        bytes.extend([0; 4]);
        assert!(parse(&bytes).is_err());
    }

    #[test]
    fn what_later_versions_may_add_is_passed_over() {
        let mut bytes = bytes_of(&of(&[1]));
        bytes[22] = 0xff;
        bytes[3] += 1;
        bytes.extend([7; 4]);
        assert_eq!(parse(&bytes), Ok([Packet::DecoderState(of(&[1]))].to_vec()));
    }

    #[test]
    fn a_message_ends_nowhere_before_its_current_state() {
        let whole = bytes_of(&of(&[]));
        // One word less than the SSRCs and the identifier: not recognisable as this format.
        for words in 3..8 {
            let mut bytes = whole[..4 + 4 * words].to_vec();
            bytes[3] = words as u8;
            assert!(matches!(parse(&bytes), Err(ParseError::Short { .. })), "{words} words");
        }
    }

    #[test]
    fn as_many_states_as_a_byte_counts_are_written_and_no_more() {
        let states: Vec<u64> = (0..256).collect();
        let bytes = bytes_of(&of(&states[..255]));
        assert_eq!(bytes.len(), 36 + 8 * 255);
        assert_eq!(parse(&bytes), Ok([Packet::DecoderState(of(&states[..255]))].to_vec()));
        let mut out = Vec::new();
        let error = WriteError { what: "complete decoder states", found: 256, min: 0, max: 255 };
        assert_eq!(of(&states).write(&mut out), Err(error));
        assert!(out.is_empty());
        assert!(bytes_of(&of(&states[..145])).len() <= 1200 && bytes_of(&of(&states[..146])).len() > 1200);
    }

    #[test]
    fn an_interarrival_time_is_cut_to_microseconds_and_to_32_bits_and_refused_below_zero() {
        let with = |nanos| DecoderState { interarrival: Span::from_nanos(nanos), ..of(&[]) };
        let written = |nanos| parse(&bytes_of(&with(nanos)));
        let expected = |nanos| Ok([Packet::DecoderState(with(nanos))].to_vec());
        assert_eq!(written(336_880_999), expected(336_880_000));
        assert_eq!(written(i64::MAX), expected(4_294_967_295_000));
        let mut out = Vec::new();
        let what = "microseconds by which an interarrival time is below zero";
        assert_eq!(with(-1).write(&mut out), Err(WriteError { what, found: 1, min: 0, max: 0 }));
        assert!(out.is_empty());
    }

    proptest! {
        #[test]
        fn a_decoder_state_survives(
            (sender_ssrc, media_ssrc, frame, fragment, micros, current) in any::<(u32, u32, u32, u16, u32, u64)>(),
            complete in prop::collection::vec(any::<u64>(), 0..256),
        ) {
            let interarrival = Span::from_micros(micros.into());
            let message = DecoderState { sender_ssrc, media_ssrc, frame, fragment, interarrival, current, complete };
            testing::survives(Packet::DecoderState(message))?;
        }
    }
}
