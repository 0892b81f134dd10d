//! Reports of a receiver that measures the path itself.

use alloc::vec::Vec;

use thalweg_units::{Bytes, Rate};

use super::PAYLOAD;
use super::application_feedback::FORMAT;
use super::header::{Header, frame};
use crate::{ParseError, WriteError};

/// Identifier among application layer feedback.
pub(super) const IDENTIFIER: [u8; 4] = *b"PATH";

/// The receiver's measurement of the path: the recent capacity, and the bytes received and lost since the beginning.
///
/// Rebera's receiver sends it every tenth of a second (specs/rebera.md 3; the paper defines the content but not the
/// format). Here it is application layer feedback (RFC 4585 section 6.4). After the SSRCs and the identifier "PATH",
/// most significant byte first:
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                 capacity, bit/s, 64 bits                      |
/// |                                                               |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                 bytes received, 64 bits                       |
/// |                                                               |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                 bytes lost, 64 bits                           |
/// |                                                               |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
///
/// A capacity of 0 means that nothing was measured. Anything after the bytes lost is ignored: room for later versions.
/// The packet takes 40 bytes. Reports have no sequence number: of two reports of one receiver the newer one has more
/// bytes received.
///
/// The content is untrusted: anything a receiver sends must parse, and the sender knows what it has sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PathReport {
    /// SSRC of the measuring receiver.
    pub sender_ssrc: u32,
    /// SSRC of the media stream whose frames measure the path.
    pub media_ssrc: u32,
    /// The recently measured capacity; `None` if nothing was measured. 0 bit/s is also read as `None`.
    pub capacity: Option<Rate>,
    /// Bytes received since the beginning, in IP packet sizes, of packets that carry the bytes sent before them
    /// ([`BytesBefore`](crate::rtp::BytesBefore)).
    pub received: Bytes,
    /// Bytes sent before the last of those packets and not received.
    pub lost: Bytes,
}

impl PathReport {
    pub(super) fn parse(header: &Header<'_>) -> Result<PathReport, ParseError> {
        let mut reader = header.body();
        let sender_ssrc = reader.u32("path report sender SSRC")?;
        let media_ssrc = reader.u32("path report media SSRC")?;
        // Already checked.
        reader.u32("path report identifier")?;
        let capacity = Some(Rate::from_bps(reader.u64("path report capacity")?)).filter(|rate| *rate > Rate::ZERO);
        let received = Bytes::new(reader.u64("path report bytes received")?);
        let lost = Bytes::new(reader.u64("path report bytes lost")?);
        Ok(PathReport { sender_ssrc, media_ssrc, capacity, received, lost })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        frame(out, PAYLOAD, FORMAT, |out| {
            out.extend_from_slice(&self.sender_ssrc.to_be_bytes());
            out.extend_from_slice(&self.media_ssrc.to_be_bytes());
            out.extend_from_slice(&IDENTIFIER);
            let capacity = self.capacity.unwrap_or(Rate::ZERO).as_bps();
            let words = [capacity, self.received.get(), self.lost.get()];
            out.extend(words.iter().flat_map(|word| word.to_be_bytes()));
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::{Packet, parse, testing};
    use proptest::prelude::*;

    const REPORT: PathReport = PathReport {
        sender_ssrc: 0x0102_0304,
        media_ssrc: 0x0506_0708,
        capacity: Some(Rate::from_bps(0x1112_1314_1516_1718)),
        received: Bytes::new(0x2122_2324_2526_2728),
        lost: Bytes::new(0x3132_3334_3536_3738),
    };

    fn bytes_of(report: PathReport) -> Vec<u8> {
        let mut out = Vec::new();
        report.write(&mut out).unwrap();
        out
    }

    #[test]
    fn every_field_has_its_place_in_the_bytes() {
        let head = [0x8f, 206, 0, 9, 1, 2, 3, 4, 5, 6, 7, 8, b'P', b'A', b'T', b'H'];
        let capacity = [0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18];
        let counts = [0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38];
        testing::is_written_as(&Packet::PathReport(REPORT), &[&head[..], &capacity, &counts].concat());
    }

    #[test]
    fn a_capacity_of_nothing_is_none() {
        let none = PathReport { capacity: None, ..REPORT };
        assert_eq!(bytes_of(none)[16..24], [0; 8]);
        assert_eq!(bytes_of(PathReport { capacity: Some(Rate::ZERO), ..REPORT }), bytes_of(none));
        assert_eq!(parse(&bytes_of(none)), Ok([Packet::PathReport(none)].to_vec()));
    }

    #[test]
    fn a_message_ends_nowhere_before_its_last_count() {
        let whole = bytes_of(REPORT);
        // Two words less than the SSRCs and the identifier: not recognisable as this format.
        for words in 3..9 {
            let mut bytes = whole[..4 + 4 * words].to_vec();
            bytes[3] = words as u8;
            assert!(matches!(parse(&bytes), Err(ParseError::Short { .. })), "{words} words");
        }
    }

    #[test]
    fn what_later_versions_may_add_is_passed_over() {
        let mut bytes = bytes_of(REPORT);
        bytes[3] += 2;
        bytes.extend([0xff; 8]);
        assert_eq!(parse(&bytes), Ok([Packet::PathReport(REPORT)].to_vec()));
    }

    proptest! {
        #[test]
        fn a_path_report_survives(
            (sender_ssrc, media_ssrc, capacity, received, lost) in any::<(u32, u32, u64, u64, u64)>(),
        ) {
            let capacity = (capacity > 0).then(|| Rate::from_bps(capacity));
            let (received, lost) = (Bytes::new(received), Bytes::new(lost));
            testing::survives(Packet::PathReport(PathReport { sender_ssrc, media_ssrc, capacity, received, lost }))?;
        }
    }
}
