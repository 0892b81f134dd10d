//! Transport-wide feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01, RTPFB format 15).
//!
//! One message covers consecutive transport-wide sequence numbers. A list of chunks gives for each packet whether it
//! arrived and the size of its arrival field in bytes: 0 (missing), 1 (0 to 63.75 ms after the previous one) or 2
//! (-8192 to 8191.75 ms). Arrivals count from a reference time in 64 ms. If timestamps are not requested (-02), the
//! message has no arrival fields.
//!
//! A receiver makes messages with a [`Builder`], a sender parses them with a [`Reader`].
//!
//! ```
//! use thalweg_units::Time;
//! use thalweg_wire::rtcp::twcc::{Arrival, Config, Reader};
//!
//! let came = Time::from_millis(1234);
//! let messages = Config::default().build()?.messages(&[(70_000, Some(came)), (70_001, None)])?;
//! let read: Vec<_> = Reader::near(came).read(&messages[0], 70_005).collect();
//! assert_eq!(read, [(70_000, Arrival::At(came)), (70_001, Arrival::Missing)]);
//! # Ok::<(), thalweg_wire::WriteError>(())
//! ```

mod build;
mod chunk;
mod read;

use alloc::vec::Vec;

use thalweg_units::Span;

use super::TRANSPORT;
use super::header::{Header, frame};
use crate::reader::Reader as Cursor;
use crate::{ParseError, WriteError};
pub use build::{Builder, Config};
use chunk::Chunks;
pub use read::{Arrival, Reader};

/// Feedback format of transport-wide feedback.
pub(super) const FORMAT: u8 = 15;
/// The unit of arrival differences.
pub const TICK: Span = Span::from_micros(250);
/// The unit of the reference time.
pub const REFERENCE_UNIT: Span = Span::from_millis(64);
/// Ticks in a unit of the reference time.
const TICKS_PER_REFERENCE: u64 = 256;
/// Header bytes of a message before its chunks: the RTCP header, two SSRCs, and 8 bytes.
const HEAD: usize = 20;

/// The status of one packet, as encoded in the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It had not arrived when the feedback was sent.
    Missing,
    /// It arrived this many [`TICK`]s after the previous reported arrival, or after the reference time for the first.
    Arrived(i16),
    /// It arrived at an unreported time.
    Untimed,
}

impl Status {
    /// Its two-bit symbol: the size of its arrival field, where arrivals are included.
    fn symbol(self) -> u8 {
        match self {
            Status::Missing => 0,
            Status::Arrived(0..=255) | Status::Untimed => 1,
            Status::Arrived(_) => 2,
        }
    }

    /// Size of its arrival field in bytes.
    fn size(self) -> usize {
        if self == Status::Untimed { 0 } else { self.symbol().into() }
    }
}

/// A feedback message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    /// SSRC of the reporter.
    pub sender_ssrc: u32,
    /// SSRC of any of the streams of the reported packets.
    pub media_ssrc: u32,
    /// The transport-wide sequence number of the first status.
    pub base_sequence: u16,
    /// Reference time by the receiver's clock in [`REFERENCE_UNIT`]s, 24 bits.
    pub reference_time: u32,
    /// Counts the messages, to detect lost ones.
    pub feedback_count: u8,
    /// The status of the packets from `base_sequence` on, 1 to 65535 of them; arrivals are included for all or for
    /// none.
    pub statuses: Vec<Status>,
}

impl Feedback {
    pub(super) fn parse(header: &Header<'_>) -> Result<Feedback, ParseError> {
        let mut reader = header.body();
        let sender_ssrc = reader.u32("transport feedback sender SSRC")?;
        let media_ssrc = reader.u32("transport feedback media SSRC")?;
        let base_sequence = reader.u16("transport feedback base sequence")?;
        let at = reader.at();
        let count = usize::from(reader.u16("transport feedback status count")?);
        if count == 0 {
            let what = "transport feedback status count";
            return Err(ParseError::OutOfRange { what, at, found: 0, min: 1, max: 65_535 });
        }
        let reference_time = reader.u24("transport feedback reference time")?;
        let feedback_count = reader.u8("transport feedback count")?;
        let symbols = chunk::parse(&mut reader, count)?;
        let statuses = parse_arrivals(&mut reader, &symbols)?;
        Ok(Feedback { sender_ssrc, media_ssrc, base_sequence, reference_time, feedback_count, statuses })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        WriteError::check("transport feedback status count", self.statuses.len() as u64, 1, 65_535)?;
        WriteError::check("transport feedback reference time", self.reference_time.into(), 0, 0xff_ffff)?;
        let timed = self.statuses.iter().filter(|status| matches!(status, Status::Arrived(_))).count() as u64;
        // The format cannot omit the time of a single packet.
        let max = if self.statuses.contains(&Status::Untimed) { 0 } else { 65_535 };
        WriteError::check("timed arrivals beside untimed ones", timed, 0, max)?;
        frame(out, TRANSPORT, FORMAT, |out| {
            out.extend_from_slice(&self.sender_ssrc.to_be_bytes());
            out.extend_from_slice(&self.media_ssrc.to_be_bytes());
            out.extend_from_slice(&self.base_sequence.to_be_bytes());
            out.extend_from_slice(&(self.statuses.len() as u16).to_be_bytes());
            out.extend_from_slice(&(self.reference_time << 8 | u32::from(self.feedback_count)).to_be_bytes());
            let mut chunks = Chunks::default();
            for status in &self.statuses {
                out.extend(chunks.push(status.symbol()).into_iter().flat_map(u16::to_be_bytes));
            }
            out.extend(chunks.finish().into_iter().flat_map(u16::to_be_bytes));
            for status in &self.statuses {
                match *status {
                    Status::Arrived(delta @ 0..=255) => out.push(delta as u8),
                    Status::Arrived(delta) => out.extend_from_slice(&delta.to_be_bytes()),
                    Status::Missing | Status::Untimed => {}
                }
            }
            Ok(())
        })
    }
}

fn parse_arrivals(reader: &mut Cursor<'_>, symbols: &[u8]) -> Result<Vec<Status>, ParseError> {
    let needed: usize = symbols.iter().map(|symbol| usize::from(*symbol)).sum();
    // No arrivals, only zeros up to a whole word: a message without timestamps. libwebrtc accepts any message that is
    // too short for arrivals as one; here it is one only if nothing else was cut off.
    let untimed = reader.left() < needed && reader.left() < 4 && reader.rest().iter().all(|byte| *byte == 0);
    let mut statuses = Vec::with_capacity(symbols.len());
    for symbol in symbols {
        statuses.push(match symbol {
            0 => Status::Missing,
            _ if untimed => Status::Untimed,
            1 => Status::Arrived(i16::from(reader.u8("small arrival difference")?)),
            _ => Status::Arrived(reader.u16("large arrival difference")? as i16),
        });
    }
    Ok(statuses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::{Packet, parse, testing};
    use proptest::prelude::*;

    fn message(statuses: &[Status]) -> Feedback {
        Feedback {
            sender_ssrc: 0x0102_0304,
            media_ssrc: 0x0506_0708,
            base_sequence: 0x1011,
            reference_time: 0x12_1314,
            feedback_count: 0x15,
            statuses: statuses.to_vec(),
        }
    }

    #[test]
    fn every_field_of_the_diagram_has_its_place() {
        // Seven two-bit symbols: small, missing, large, then four beyond the status count.
        let feedback = message(&[Status::Arrived(4), Status::Missing, Status::Arrived(-1)]);
        let bytes = [
            0xaf, 205, 0, 6, 1, 2, 3, 4, 5, 6, 7, 8, 0x10, 0x11, 0, 3, 0x12, 0x13, 0x14, 0x15, 0xd2, 0, 4, 0xff, 0xff,
            0, 0, 3,
        ];
        testing::is_written_as(&Packet::TransportFeedback(feedback), &bytes);
    }

    #[test]
    fn a_message_without_timestamps_has_no_arrivals() {
        // A run of three received; two bytes of padding, declared as such or zero-filled.
        let feedback = message(&[Status::Untimed; 3]);
        let mut bytes =
            [0xaf, 205, 0, 5, 1, 2, 3, 4, 5, 6, 7, 8, 0x10, 0x11, 0, 3, 0x12, 0x13, 0x14, 0x15, 0x20, 3, 0, 2];
        testing::is_written_as(&Packet::TransportFeedback(feedback.clone()), &bytes);
        bytes[0] = 0x8f;
        bytes[23] = 0;
        assert_eq!(parse(&bytes), Ok([Packet::TransportFeedback(feedback)].to_vec()));
    }

    #[test]
    fn times_for_some_packets_only_are_refused() {
        let mut out = Vec::new();
        assert!(message(&[Status::Untimed, Status::Arrived(0)]).write(&mut out).is_err());
        assert!(message(&[]).write(&mut out).is_err());
        assert!(Feedback { reference_time: 1 << 24, ..message(&[Status::Missing]) }.write(&mut out).is_err());
        assert!(out.is_empty());
    }

    #[test]
    fn a_count_of_nothing_and_cut_off_arrivals_are_refused() {
        let mut bytes = Vec::new();
        message(&[Status::Arrived(300); 4]).write(&mut bytes).unwrap();
        assert_eq!(bytes.len(), 32);
        bytes[15] = 0;
        let what = "transport feedback status count";
        assert_eq!(parse(&bytes), Err(ParseError::OutOfRange { what, at: 14, found: 0, min: 1, max: 65_535 }));
        bytes[15] = 6;
        bytes[21] = 6;
        let what = "large arrival difference";
        assert_eq!(parse(&bytes), Err(ParseError::Short { what, at: 30, needed: 2, found: 0 }));
    }

    proptest! {
        #[test]
        fn a_timed_message_survives(
            statuses in prop::collection::vec(prop_oneof![
                Just(Status::Missing), (0i16..256).prop_map(Status::Arrived), any::<i16>().prop_map(Status::Arrived),
            ], 1..400),
            base_sequence: u16, reference_time in 0u32..1 << 24, feedback_count: u8,
        ) {
            let feedback = Feedback { base_sequence, reference_time, feedback_count, ..message(&statuses) };
            testing::survives(Packet::TransportFeedback(feedback))?;
        }

        #[test]
        fn an_untimed_message_survives(came in prop::collection::vec(any::<bool>(), 1..400)) {
            let status = |came: &bool| if *came { Status::Untimed } else { Status::Missing };
            let statuses: Vec<Status> = came.iter().map(status).collect();
            testing::survives(Packet::TransportFeedback(message(&statuses)))?;
        }
    }
}
