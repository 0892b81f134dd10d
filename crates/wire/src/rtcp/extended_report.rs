//! XR: what a receiver that sends nothing needs to know the round trip (RFC 3611).
//!
//! A receiver says when it sends ([`ExtendedBlock::ReceiverTime`]); the other side repeats that and how long ago it came
//! ([`ExtendedBlock::SinceReceiverTime`]), as report blocks do with sender reports.

use alloc::vec::Vec;

use super::header::{Header, frame};
use super::{NtpShort, NtpTime};
use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// Packet type of an extended report.
pub(super) const KIND: u8 = 207;
/// Block type of a receiver's reference time (section 4.4).
const RECEIVER_TIME: u8 = 4;
/// Block type of the delay since the last one (section 4.5).
const SINCE_RECEIVER_TIME: u8 = 5;

/// An extended report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExtendedReport {
    /// Who reports.
    pub ssrc: u32,
    /// What.
    pub blocks: Vec<ExtendedBlock>,
}

/// One block of an extended report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExtendedBlock {
    /// RRTR: when the report left (4).
    ReceiverTime(NtpTime),
    /// DLRR: the last of these from each receiver (5).
    SinceReceiverTime(Vec<LastReceiverTime>),
    /// Any other.
    Other {
        /// The block type.
        kind: u8,
        /// The byte whose meaning depends on it.
        specific: u8,
        /// What follows the block's header: whole 32-bit words.
        data: Vec<u8>,
    },
}

/// What was last heard from a receiver that reports its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LastReceiverTime {
    /// The receiver.
    pub ssrc: u32,
    /// The middle of the time it said; 0 if it said none.
    pub last_report: NtpShort,
    /// How long ago that came.
    pub delay: NtpShort,
}

impl ExtendedReport {
    pub(super) fn parse(header: &Header<'_>) -> Result<ExtendedReport, ParseError> {
        let mut reader = header.body();
        let ssrc = reader.u32("extended report SSRC")?;
        let mut blocks = Vec::new();
        // Padding of 1 to 3 bytes leaves a piece of a word, which is no block.
        while reader.left() >= 4 {
            blocks.push(ExtendedBlock::parse(&mut reader)?);
        }
        Ok(ExtendedReport { ssrc, blocks })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        frame(out, KIND, 0, |out| {
            out.extend_from_slice(&self.ssrc.to_be_bytes());
            self.blocks.iter().try_for_each(|block| block.write(out))
        })
    }
}

impl ExtendedBlock {
    fn parse(reader: &mut Reader<'_>) -> Result<ExtendedBlock, ParseError> {
        let kind = reader.u8("extended report block type")?;
        let specific = reader.u8("extended report block's second byte")?;
        let words = usize::from(reader.u16("extended report block length")?);
        let at = reader.at();
        let data = reader.take("extended report block", 4 * words)?;
        let mut block = Reader::placed(data, at);
        match (kind, words % 3) {
            (RECEIVER_TIME, 2) if words == 2 => {
                Ok(ExtendedBlock::ReceiverTime(NtpTime::from_bits(block.u64("receiver reference time")?)))
            }
            (SINCE_RECEIVER_TIME, 0) => (0..words / 3)
                .map(|_| LastReceiverTime::parse(&mut block))
                .collect::<Result<_, _>>()
                .map(Self::SinceReceiverTime),
            // Of a length that it should not have, a block is passed over as one that nobody knows (section 3).
            _ => Ok(ExtendedBlock::Other { kind, specific, data: data.to_vec() }),
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let head = |kind: u8, specific: u8, length: usize, out: &mut Vec<u8>| {
            WriteError::check("bytes of an extended report block past whole words", (length % 4) as u64, 0, 0)?;
            WriteError::check("words of an extended report block", (length / 4) as u64, 0, u16::MAX.into())?;
            out.extend_from_slice(&[kind, specific]);
            out.extend_from_slice(&((length / 4) as u16).to_be_bytes());
            Ok(())
        };
        match self {
            ExtendedBlock::ReceiverTime(time) => {
                head(RECEIVER_TIME, 0, 8, out)?;
                out.extend_from_slice(&time.bits().to_be_bytes());
            }
            ExtendedBlock::SinceReceiverTime(last) => {
                head(SINCE_RECEIVER_TIME, 0, 12 * last.len(), out)?;
                for LastReceiverTime { ssrc, last_report, delay } in last {
                    let words = [*ssrc, last_report.bits(), delay.bits()];
                    out.extend(words.iter().flat_map(|word| word.to_be_bytes()));
                }
            }
            ExtendedBlock::Other { kind, specific, data } => {
                head(*kind, *specific, data.len(), out)?;
                out.extend_from_slice(data);
            }
        }
        Ok(())
    }
}

impl LastReceiverTime {
    fn parse(reader: &mut Reader<'_>) -> Result<LastReceiverTime, ParseError> {
        Ok(LastReceiverTime {
            ssrc: reader.u32("SSRC of a receiver that reports its time")?,
            last_report: NtpShort::from_bits(reader.u32("last receiver reference time")?),
            delay: NtpShort::from_bits(reader.u32("delay since the last receiver reference time")?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::{Packet, parse, testing};
    use proptest::prelude::*;

    #[test]
    fn a_receivers_time_and_its_echo_have_their_places() {
        let time = ExtendedBlock::ReceiverTime(NtpTime::from_bits(0x0102_0304_0506_0708));
        let last = LastReceiverTime {
            ssrc: 0x1112_1314,
            last_report: NtpShort::from_bits(0x2122_2324),
            delay: NtpShort::from_bits(0x3132_3334),
        };
        let other = ExtendedBlock::Other { kind: 1, specific: 9, data: [7, 7, 7, 7].to_vec() };
        let blocks = [time, ExtendedBlock::SinceReceiverTime([last].to_vec()), other].to_vec();
        let bytes = [
            0x80, 207, 0, 10, 0, 0, 0, 5, 4, 0, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8, 5, 0, 0, 3, 0x11, 0x12, 0x13, 0x14, 0x21,
            0x22, 0x23, 0x24, 0x31, 0x32, 0x33, 0x34, 1, 9, 0, 1, 7, 7, 7, 7,
        ];
        testing::is_written_as(&Packet::ExtendedReport(ExtendedReport { ssrc: 5, blocks }), &bytes);
    }

    #[test]
    fn a_block_past_the_end_is_refused_and_one_of_another_length_is_kept() {
        assert!(parse(&[0x80, 207, 0, 2, 0, 0, 0, 5, 4, 0, 0, 2]).is_err());
        let data = [1, 2, 3, 4].to_vec();
        for kind in [4, 5] {
            let bytes = [0x80, 207, 0, 3, 0, 0, 0, 5, kind, 0, 0, 1, 1, 2, 3, 4];
            let blocks = [ExtendedBlock::Other { kind, specific: 0, data: data.clone() }].to_vec();
            assert_eq!(parse(&bytes), Ok([Packet::ExtendedReport(ExtendedReport { ssrc: 5, blocks })].to_vec()));
        }
    }

    #[test]
    fn broken_words_and_too_many_are_refused() {
        let mut out = Vec::new();
        for length in [1, 4 * 65_536] {
            let block = ExtendedBlock::Other { kind: 1, specific: 0, data: [0].repeat(length) };
            assert!(ExtendedReport { ssrc: 1, blocks: [block].to_vec() }.write(&mut out).is_err() && out.is_empty());
        }
    }

    fn any_block() -> impl Strategy<Value = ExtendedBlock> {
        let last = any::<(u32, u32, u32)>().prop_map(|(ssrc, last_report, delay)| LastReceiverTime {
            ssrc,
            last_report: NtpShort::from_bits(last_report),
            delay: NtpShort::from_bits(delay),
        });
        prop_oneof![
            any::<u64>().prop_map(|bits| ExtendedBlock::ReceiverTime(NtpTime::from_bits(bits))),
            prop::collection::vec(last, 0..5).prop_map(ExtendedBlock::SinceReceiverTime),
            (6u8..=255, any::<u8>(), any::<Vec<[u8; 4]>>()).prop_map(|(kind, specific, data)| ExtendedBlock::Other {
                kind,
                specific,
                data: data.concat(),
            }),
        ]
    }

    proptest! {
        #[test]
        fn an_extended_report_survives(ssrc: u32, blocks in prop::collection::vec(any_block(), 0..5)) {
            testing::survives(Packet::ExtendedReport(ExtendedReport { ssrc, blocks }))?;
        }
    }
}
