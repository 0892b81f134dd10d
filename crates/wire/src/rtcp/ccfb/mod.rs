//! Congestion control feedback (RFC 8888, RTPFB format 11): for every packet of every stream, whether it arrived, its
//! ECN mark and how long ago it arrived.
//!
//! A receiver makes messages with a [`Builder`], a sender parses them with a [`Reader`].

mod build;
mod read;

use alloc::vec::Vec;

use thalweg_units::{Ecn, Span};

use super::header::{Header, frame};
use super::{NtpShort, TRANSPORT};
use crate::reader::Reader as Cursor;
use crate::{ParseError, WriteError};
pub use build::{Builder, Config, Received};
pub use read::{Arrival, Reader};

/// Feedback format of congestion control feedback.
pub(super) const FORMAT: u8 = 11;
/// Max number of packets in a block: a quarter of the sequence number range (RFC 8888 section 3.1).
pub const MAX_REPORTS: u16 = 16_384;

/// ATO: time from a packet's arrival to the report, in 1/1024 s, 13 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Offset(u16);

impl Offset {
    /// More than 8189/1024 s.
    pub const OVER_RANGE: Offset = Offset(0x1ffe);
    /// Unknown, or after the report.
    pub const UNAVAILABLE: Offset = Offset(0x1fff);

    /// The offset `span`, to the nearest 1/1024 s; [`Offset::UNAVAILABLE`] if negative, [`Offset::OVER_RANGE`] if above
    /// 8189/1024 s.
    pub fn of(span: Span) -> Offset {
        let Ok(nanos) = u128::try_from(span.as_nanos()) else { return Offset::UNAVAILABLE };
        if nanos * 1024 > 8189 * 1_000_000_000 {
            return Offset::OVER_RANGE;
        }
        Offset(((nanos * 1024 + 500_000_000) / 1_000_000_000) as u16)
    }

    /// The time from arrival to report, rounded down to 1 ns; `None` for [`Offset::OVER_RANGE`] and
    /// [`Offset::UNAVAILABLE`].
    pub fn span(self) -> Option<Span> {
        (self < Offset::OVER_RANGE).then(|| Span::from_nanos(i64::from(self.0) * 1_000_000_000 / 1024))
    }

    /// The 13 bits.
    pub const fn bits(self) -> u16 {
        self.0
    }
}

/// The status of one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It had not arrived when the report was made.
    Missing,
    /// It arrived.
    Arrived {
        /// Its ECN mark; of duplicates CE wins (RFC 8888 section 3.1).
        ecn: Ecn,
        /// Time from arrival to report.
        offset: Offset,
    },
}

impl Status {
    fn from_bits(bits: u16) -> Status {
        if bits & 0x8000 == 0 {
            return Status::Missing;
        }
        Status::Arrived { ecn: Ecn::ALL[usize::from(bits >> 13 & 3)], offset: Offset(bits & 0x1fff) }
    }

    fn bits(self) -> u16 {
        match self {
            Status::Missing => 0,
            Status::Arrived { ecn, offset } => 0x8000 | (ecn as u16) << 13 | offset.0,
        }
    }
}

/// Consecutive packets of one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    /// SSRC of the stream.
    pub ssrc: u32,
    /// The RTP sequence number of the first status.
    pub begin: u16,
    /// The status of the packets from `begin` on, at most [`MAX_REPORTS`]; there may be none.
    pub statuses: Vec<Status>,
}

/// A feedback message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    /// SSRC of the reporter.
    pub sender_ssrc: u32,
    /// The reported streams.
    pub streams: Vec<Stream>,
    /// RTS: time of the report, by the receiver's clock.
    pub reported: NtpShort,
}

impl Feedback {
    pub(super) fn parse(header: &Header<'_>) -> Result<Feedback, ParseError> {
        let mut reader = header.body();
        let sender_ssrc = reader.u32("congestion feedback sender SSRC")?;
        let mut streams = Vec::new();
        while reader.left() > 4 {
            streams.push(Stream::parse(&mut reader)?);
        }
        let reported = NtpShort::from_bits(reader.u32("congestion feedback report timestamp")?);
        Ok(Feedback { sender_ssrc, streams, reported })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        frame(out, TRANSPORT, FORMAT, |out| {
            out.extend_from_slice(&self.sender_ssrc.to_be_bytes());
            self.streams.iter().try_for_each(|stream| stream.write(out))?;
            out.extend_from_slice(&self.reported.bits().to_be_bytes());
            Ok(())
        })
    }
}

impl Stream {
    fn parse(reader: &mut Cursor<'_>) -> Result<Stream, ParseError> {
        let ssrc = reader.u32("congestion feedback SSRC")?;
        let begin = reader.u16("congestion feedback first sequence number")?;
        let at = reader.at();
        let count = reader.u16("congestion feedback report count")?;
        if count > MAX_REPORTS {
            let (found, max) = (count.into(), MAX_REPORTS.into());
            return Err(ParseError::OutOfRange { what: "congestion feedback report count", at, found, min: 0, max });
        }
        let reports = reader.take("congestion feedback reports", 2 * usize::from(count))?;
        if count % 2 == 1 {
            reader.u16("congestion feedback padding")?;
        }
        let status = |pair: &[u8]| Status::from_bits(u16::from_be_bytes([pair[0], pair[1]]));
        Ok(Stream { ssrc, begin, statuses: reports.chunks_exact(2).map(status).collect() })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let count = self.statuses.len();
        WriteError::check("congestion feedback report count", count as u64, 0, MAX_REPORTS.into())?;
        out.extend_from_slice(&self.ssrc.to_be_bytes());
        out.extend_from_slice(&self.begin.to_be_bytes());
        out.extend_from_slice(&(count as u16).to_be_bytes());
        out.extend(self.statuses.iter().flat_map(|status| status.bits().to_be_bytes()));
        out.resize(out.len() + 2 * (count % 2), 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::{Packet, parse, testing};
    use proptest::prelude::*;

    fn arrived(ecn: Ecn, bits: u16) -> Status {
        Status::Arrived { ecn, offset: Offset(bits) }
    }

    #[test]
    fn every_field_of_the_diagram_has_its_place() {
        let first = [arrived(Ecn::Ce, 512), Status::Missing, arrived(Ecn::Ect1, 0x1fff)].to_vec();
        let streams = [
            Stream { ssrc: 0x1112_1314, begin: 0xffff, statuses: first },
            Stream { ssrc: 0x2122_2324, begin: 5, statuses: Vec::new() },
            Stream {
                ssrc: 0x3132_3334,
                begin: 6,
                statuses: [arrived(Ecn::Ect0, 1), arrived(Ecn::NotCapable, 2)].to_vec(),
            },
        ]
        .to_vec();
        let feedback = Feedback { sender_ssrc: 0x0102_0304, streams, reported: NtpShort::from_bits(0x4142_4344) };
        let bytes = [
            0x8b, 205, 0, 11, 1, 2, 3, 4, 0x11, 0x12, 0x13, 0x14, 0xff, 0xff, 0, 3, 0xe2, 0, 0, 0, 0xbf, 0xff, 0, 0,
            0x21, 0x22, 0x23, 0x24, 0, 5, 0, 0, 0x31, 0x32, 0x33, 0x34, 0, 6, 0, 2, 0xc0, 1, 0x80, 2, 0x41, 0x42, 0x43,
            0x44,
        ];
        testing::is_written_as(&Packet::CongestionFeedback(feedback), &bytes);
    }

    #[test]
    fn half_a_second_ago_is_512() {
        assert_eq!(Offset::of(Span::from_millis(500)).bits(), 512);
        assert_eq!(Offset::of(Span::from_nanos(-1)), Offset::UNAVAILABLE);
        // 8189/1024 s is 7997.0703125 ms, coded 0x1ffd; anything more is out of range.
        assert_eq!(Offset::of(Span::from_nanos(7_997_070_312)).bits(), 0x1ffd);
        assert_eq!(Offset::of(Span::from_nanos(7_997_070_313)), Offset::OVER_RANGE);
        assert_eq!(Offset::of(Span::MAX), Offset::OVER_RANGE);
        assert_eq!((Offset::OVER_RANGE.span(), Offset::UNAVAILABLE.span()), (None, None));
        assert_eq!(Offset(512).span(), Some(Span::from_millis(500)));
    }

    #[test]
    fn more_than_a_quarter_of_the_numbers_is_refused() {
        let stream = Stream { ssrc: 1, begin: 0, statuses: [Status::Missing].repeat(16_385) };
        let mut out = Vec::new();
        assert!(
            Feedback { sender_ssrc: 1, streams: [stream].to_vec(), reported: NtpShort::default() }
                .write(&mut out)
                .is_err()
        );
        assert!(out.is_empty());
        let what = "congestion feedback report count";
        let bytes = [0x8b, 205, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0x40, 1, 0, 0, 0, 0];
        assert_eq!(parse(&bytes), Err(ParseError::OutOfRange { what, at: 14, found: 16_385, min: 0, max: 16_384 }));
    }

    proptest! {
        #[test]
        fn a_message_survives(
            sender_ssrc: u32, reported: u32,
            streams in prop::collection::vec((any::<u32>(), any::<u16>(), prop::collection::vec(any::<u16>(), 0..40)), 0..5),
        ) {
            let streams = streams.into_iter().map(|(ssrc, begin, bits)| {
                Stream { ssrc, begin, statuses: bits.into_iter().map(Status::from_bits).collect() }
            });
            let (streams, reported) = (streams.collect(), NtpShort::from_bits(reported));
            testing::survives(Packet::CongestionFeedback(Feedback { sender_ssrc, streams, reported }))?;
        }
    }
}
