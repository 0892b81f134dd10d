//! RTCP feedback.

pub mod twcc;

use alloc::vec::Vec;

use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// Packet type of transport-layer feedback (RFC 4585 section 6.1).
const RTPFB: u8 = 205;

/// Reads one transport-wide feedback message.
///
/// # Errors
/// Another kind of packet, or a malformed one.
pub fn parse_twcc(bytes: &[u8]) -> Result<twcc::Feedback, ParseError> {
    let mut reader = Reader::new(bytes);
    let first = reader.u8("RTCP first byte")?;
    if first & 0xdf != 0x8f {
        let found = u64::from(first);
        return Err(ParseError::OutOfRange { what: "RTCP first byte", at: 0, found, least: 0x8f, most: 0xaf });
    }
    let kind = reader.u8("RTCP packet type")?;
    if kind != RTPFB {
        return Err(ParseError::OutOfRange {
            what: "RTCP packet type",
            at: 1,
            found: kind.into(),
            least: 205,
            most: 205,
        });
    }
    let length = usize::from(reader.u16("RTCP length")?) * 4;
    let at = reader.at();
    let body = reader.take("RTCP body", length)?;
    let padding = if first & 0x20 != 0 { crate::rtp::padding_length(body, at)? } else { 0 };
    twcc::Feedback::parse_body(&mut Reader::placed(&body[..body.len() - usize::from(padding)], at))
}

/// Appends one transport-wide feedback message to `out`.
///
/// # Errors
/// What the format has no room for; `out` is then of no use.
pub fn write_twcc(feedback: &twcc::Feedback, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let start = out.len();
    out.extend_from_slice(&[0x8f, RTPFB, 0, 0]);
    feedback.write_body(out)?;
    let padding = (out.len() - start).next_multiple_of(4) - (out.len() - start);
    if padding > 0 {
        out[start] |= 0x20;
        out.resize(out.len() + padding - 1, 0);
        out.push(padding as u8);
    }
    let words = (out.len() - start) / 4 - 1;
    WriteError::check("RTCP length in words", words as u64, 0, 65_535)?;
    out[start + 2..start + 4].copy_from_slice(&(words as u16).to_be_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::twcc::{Feedback, Status};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn transport_feedback_survives_being_written_and_read(
            statuses in prop::collection::vec(prop_oneof![
                Just(Status::Missing), (0i16..256).prop_map(Status::Arrived), any::<i16>().prop_map(Status::Arrived),
            ], 1..400),
            base_sequence: u16, reference_time in 0u32..1 << 24,
        ) {
            let feedback =
                Feedback { sender_ssrc: 1, media_ssrc: 2, base_sequence, reference_time, feedback_count: 9, statuses };
            let mut out = Vec::new();
            write_twcc(&feedback, &mut out).unwrap();
            prop_assert_eq!(parse_twcc(&out), Ok(feedback));
        }
    }
}
