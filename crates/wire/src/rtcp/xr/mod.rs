//! XR: extended reports (RFC 3611), in addition to receiver reports.
//!
//! For each packet, whether it arrived, whether it was duplicated, when it arrived, and whether it was too late to be
//! used ([`RunLengths`], [`ReceiptTimes`]); the same as summary statistics ([`StatisticsSummary`], [`BytesDiscarded`]);
//! and the round-trip time for a receiver that sends no media: it reports its own time ([`XrBlock::ReceiverTime`]), and
//! the peer echoes that with the time since it arrived ([`XrBlock::SinceReceiverTime`]), as report blocks do with
//! sender reports.
//!
//! Blocks that cover only some of the packets (thinning) are kept as [`XrBlock::Other`]: no scheme here can use them.

mod receipt_times;
mod run_lengths;
mod summary;

pub use receipt_times::ReceiptTimes;
pub use run_lengths::RunLengths;
pub use summary::{BytesDiscarded, Hops, Spread, StatisticsSummary};

use alloc::vec::Vec;

use super::header::{Header, frame};
use super::{NtpShort, NtpTime};
use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// Packet type of an extended report.
pub(super) const KIND: u8 = 207;

// Block types, by section of RFC 3611 or as assigned by IANA.
/// 4.1.
const LOSSES: u8 = 1;
/// 4.2.
const DUPLICATES: u8 = 2;
/// 4.3.
const RECEIPT_TIMES: u8 = 3;
/// 4.4.
const RECEIVER_TIME: u8 = 4;
/// 4.5.
const SINCE_RECEIVER_TIME: u8 = 5;
/// 4.6.
const STATISTICS: u8 = 6;
/// RFC 7097.
const DISCARDS: u8 = 25;
/// RFC 7243.
const BYTES_DISCARDED: u8 = 26;

/// The thinning bits of the second byte, in blocks on individual packets: how many packets in between are left out.
const THINNING: u8 = 0x0f;
/// The bit of the second byte that marks packets discarded for arriving too early (RFC 7097).
const EARLY: u8 = 0x10;

/// An extended report (RFC 3611 section 2).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Xr {
    /// SSRC of the reporter.
    pub ssrc: u32,
    /// The report blocks.
    pub blocks: Vec<XrBlock>,
}

/// One block of an extended report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum XrBlock {
    /// Loss RLE: a set bit is a packet that was received (1).
    Losses(RunLengths),
    /// Duplicate RLE: a cleared bit is a packet that was received more than once (2).
    Duplicates(RunLengths),
    /// Packet receipt times (3).
    ReceiptTimes(ReceiptTimes),
    /// RRTR: when the report was sent (4).
    ReceiverTime(NtpTime),
    /// DLRR: the last RRTR from each receiver (5).
    SinceReceiverTime(Vec<LastReceiverTime>),
    /// Statistics summary (6).
    Statistics(StatisticsSummary),
    /// Discard RLE: a set bit is a packet that was received and discarded (25).
    Discards {
        /// True if they arrived too early for the buffer; otherwise too late.
        early: bool,
        /// The packets.
        packets: RunLengths,
    },
    /// Payload bytes that were received and discarded (26).
    BytesDiscarded(BytesDiscarded),
    /// Any other block.
    Other {
        /// The block type.
        kind: u8,
        /// The type-specific byte.
        specific: u8,
        /// The bytes after the block's header: whole 32-bit words.
        data: Vec<u8>,
    },
}

/// The last RRTR received from a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LastReceiverTime {
    /// SSRC of the receiver.
    pub ssrc: u32,
    /// The middle bits of its reported time; 0 if there is none.
    pub last_report: NtpShort,
    /// Time since that report was received.
    pub delay: NtpShort,
}

impl Xr {
    pub(super) fn parse(header: &Header<'_>) -> Result<Xr, ParseError> {
        let mut reader = header.body();
        let ssrc = reader.u32("extended report SSRC")?;
        let mut blocks = Vec::new();
        // 1 to 3 bytes of padding are less than a word and not a block.
        while reader.left() >= 4 {
            blocks.push(XrBlock::parse(&mut reader)?);
        }
        Ok(Xr { ssrc, blocks })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        frame(out, KIND, 0, |out| {
            out.extend_from_slice(&self.ssrc.to_be_bytes());
            self.blocks.iter().try_for_each(|block| block.write(out))
        })
    }
}

impl XrBlock {
    fn parse(reader: &mut Reader<'_>) -> Result<XrBlock, ParseError> {
        let kind = reader.u8("extended report block type")?;
        let specific = reader.u8("extended report block's second byte")?;
        let words = usize::from(reader.u16("extended report block length")?);
        let at = reader.at();
        let data = reader.take("extended report block", 4 * words)?;
        let mut block = Reader::placed(data, at);
        let is_thinned = specific & THINNING != 0;
        let known = match kind {
            LOSSES if words >= 2 && !is_thinned => Some(Self::Losses(RunLengths::parse(&mut block)?)),
            DUPLICATES if words >= 2 && !is_thinned => Some(Self::Duplicates(RunLengths::parse(&mut block)?)),
            RECEIPT_TIMES if words >= 2 && !is_thinned => ReceiptTimes::parse(&mut block)?.map(Self::ReceiptTimes),
            RECEIVER_TIME if words == 2 => {
                Some(Self::ReceiverTime(NtpTime::from_bits(block.u64("receiver reference time")?)))
            }
            SINCE_RECEIVER_TIME if words % 3 == 0 => {
                let last = (0..words / 3).map(|_| LastReceiverTime::parse(&mut block)).collect::<Result<_, _>>()?;
                Some(Self::SinceReceiverTime(last))
            }
            STATISTICS if words == StatisticsSummary::WORDS => {
                StatisticsSummary::parse(specific, &mut block)?.map(Self::Statistics)
            }
            DISCARDS if words >= 2 && !is_thinned => {
                let (early, packets) = (specific & EARLY != 0, RunLengths::parse(&mut block)?);
                Some(Self::Discards { early, packets })
            }
            BYTES_DISCARDED if words == BytesDiscarded::WORDS => {
                BytesDiscarded::parse(specific, &mut block)?.map(Self::BytesDiscarded)
            }
            _ => None,
        };
        // A block with an invalid length is treated as unknown (section 3).
        Ok(known.unwrap_or_else(|| Self::Other { kind, specific, data: data.to_vec() }))
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let (kind, specific, data) = self.contents()?;
        WriteError::check("bytes of an extended report block past whole words", (data.len() % 4) as u64, 0, 0)?;
        WriteError::check("words of an extended report block", (data.len() / 4) as u64, 0, u16::MAX.into())?;
        out.extend_from_slice(&[kind, specific]);
        out.extend_from_slice(&((data.len() / 4) as u16).to_be_bytes());
        out.extend_from_slice(&data);
        Ok(())
    }

    /// Block type, second byte, and the bytes after the header.
    fn contents(&self) -> Result<(u8, u8, Vec<u8>), WriteError> {
        Ok(match self {
            Self::Losses(packets) => (LOSSES, 0, packets.write()),
            Self::Duplicates(packets) => (DUPLICATES, 0, packets.write()),
            Self::ReceiptTimes(times) => (RECEIPT_TIMES, 0, times.write()?),
            Self::ReceiverTime(time) => (RECEIVER_TIME, 0, time.bits().to_be_bytes().to_vec()),
            Self::SinceReceiverTime(last) => {
                (SINCE_RECEIVER_TIME, 0, last.iter().copied().flat_map(LastReceiverTime::to_bytes).collect())
            }
            Self::Statistics(summary) => {
                let (specific, data) = summary.write();
                (STATISTICS, specific, data)
            }
            Self::Discards { early, packets } => (DISCARDS, if *early { EARLY } else { 0 }, packets.write()),
            Self::BytesDiscarded(discarded) => {
                let (specific, data) = discarded.write()?;
                (BYTES_DISCARDED, specific, data)
            }
            Self::Other { kind, specific, data } => (*kind, *specific, data.clone()),
        })
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

    fn to_bytes(self) -> impl Iterator<Item = u8> + use<> {
        let LastReceiverTime { ssrc, last_report, delay } = self;
        [ssrc, last_report.bits(), delay.bits()].into_iter().flat_map(u32::to_be_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::{Packet, parse, testing};
    use proptest::prelude::*;
    use thalweg_units::Bytes;

    #[test]
    fn a_receivers_time_and_its_echo_have_their_places() {
        let time = XrBlock::ReceiverTime(NtpTime::from_bits(0x0102_0304_0506_0708));
        let last = LastReceiverTime {
            ssrc: 0x1112_1314,
            last_report: NtpShort::from_bits(0x2122_2324),
            delay: NtpShort::from_bits(0x3132_3334),
        };
        let other = XrBlock::Other { kind: 1, specific: 9, data: [7, 7, 7, 7].to_vec() };
        let blocks = [time, XrBlock::SinceReceiverTime([last].to_vec()), other].to_vec();
        let bytes = [
            0x80, 207, 0, 10, 0, 0, 0, 5, 4, 0, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8, 5, 0, 0, 3, 0x11, 0x12, 0x13, 0x14, 0x21,
            0x22, 0x23, 0x24, 0x31, 0x32, 0x33, 0x34, 1, 9, 0, 1, 7, 7, 7, 7,
        ];
        testing::is_written_as(&Packet::Xr(Xr { ssrc: 5, blocks }), &bytes);
    }

    #[test]
    fn a_block_past_the_end_is_refused_and_one_of_another_length_is_kept() {
        assert!(parse(&[0x80, 207, 0, 2, 0, 0, 0, 5, 4, 0, 0, 2]).is_err());
        let data = [1, 2, 3, 4].to_vec();
        for kind in [4, 5] {
            let bytes = [0x80, 207, 0, 3, 0, 0, 0, 5, kind, 0, 0, 1, 1, 2, 3, 4];
            let blocks = [XrBlock::Other { kind, specific: 0, data: data.clone() }].to_vec();
            assert_eq!(parse(&bytes), Ok([Packet::Xr(Xr { ssrc: 5, blocks })].to_vec()));
        }
    }

    #[test]
    fn broken_words_and_too_many_are_refused() {
        let mut out = Vec::new();
        for length in [1, 4 * 65_536] {
            let block = XrBlock::Other { kind: 1, specific: 0, data: [0].repeat(length) };
            assert!(Xr { ssrc: 1, blocks: [block].to_vec() }.write(&mut out).is_err() && out.is_empty());
        }
    }

    #[test]
    fn what_became_of_packets_has_its_place() {
        let packets = RunLengths::of(0x0a0b_0c0d, 0xfffe, [true, false, true]).unwrap();
        let early = true;
        let blocks = [
            XrBlock::Losses(packets.clone()),
            XrBlock::Duplicates(packets.clone()),
            XrBlock::ReceiptTimes(ReceiptTimes { ssrc: 7, begin: 0xffff, times: [0x0102_0304].to_vec() }),
            XrBlock::Statistics(StatisticsSummary {
                ssrc: 7,
                begin: 1,
                end: 2,
                lost: Some(3),
                duplicates: Some(4),
                jitter: Some(Spread { min: 5, max: 6, mean: 7, deviation: 8 }),
                hops: Some((Hops::Ipv6, Spread { min: 9, max: 10, mean: 11, deviation: 12 })),
            }),
            XrBlock::Discards { early, packets },
            XrBlock::BytesDiscarded(BytesDiscarded { ssrc: 7, bytes: Bytes::new(9), ..BytesDiscarded::default() }),
        ];
        let runs = [0x0a, 0x0b, 0x0c, 0x0d, 0xff, 0xfe, 0, 1, 0xd0, 0x00, 0, 0];
        let bytes = [
            &[0x80, 207, 0, 30, 0, 0, 0, 5][..],
            &[1, 0, 0, 3],
            &runs,
            &[2, 0, 0, 3],
            &runs,
            &[3, 0, 0, 3, 0, 0, 0, 7, 0xff, 0xff, 0, 0, 1, 2, 3, 4],
            &[6, 0xf0, 0, 9, 0, 0, 0, 7, 0, 1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4],
            &[0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 7, 0, 0, 0, 8, 9, 10, 11, 12],
            &[25, 0x10, 0, 3],
            &runs,
            &[26, 0x80, 0, 2, 0, 0, 0, 7, 0, 0, 0, 9],
        ];
        testing::is_written_as(&Packet::Xr(Xr { ssrc: 5, blocks: blocks.to_vec() }), &bytes.concat());
    }

    #[test]
    fn a_block_that_leaves_packets_out_is_kept_as_it_is() {
        for (kind, specific) in [(1, 1), (2, 15), (3, 2), (25, 0x13)] {
            let data = [0, 0, 0, 7, 0, 1, 0, 1].to_vec();
            let bytes = [&[0x80, 207, 0, 4, 0, 0, 0, 5, kind, specific, 0, 2][..], &data].concat();
            let blocks = [XrBlock::Other { kind, specific, data }].to_vec();
            testing::is_written_as(&Packet::Xr(Xr { ssrc: 5, blocks }), &bytes);
        }
    }

    fn any_runs() -> impl Strategy<Value = RunLengths> {
        let bits = prop::collection::vec((any::<bool>(), 1usize..40), 0..8);
        (any::<u32>(), any::<u16>(), bits).prop_map(|(ssrc, begin, bits)| {
            let bits = bits.iter().flat_map(|(bit, count)| core::iter::repeat_n(*bit, *count));
            RunLengths::of(ssrc, begin, bits).unwrap()
        })
    }

    fn any_summary() -> impl Strategy<Value = StatisticsSummary> {
        let jitter = any::<[u32; 4]>().prop_map(|[min, max, mean, deviation]| Spread { min, max, mean, deviation });
        let hops = any::<(bool, [u8; 4])>().prop_map(|(old, [min, max, mean, deviation])| {
            (if old { Hops::Ipv4 } else { Hops::Ipv6 }, Spread { min, max, mean, deviation })
        });
        (any::<(u32, u16, u16, Option<u32>, Option<u32>)>(), prop::option::of(jitter), prop::option::of(hops)).prop_map(
            |((ssrc, begin, end, lost, duplicates), jitter, hops)| StatisticsSummary {
                ssrc,
                begin,
                end,
                lost,
                duplicates,
                jitter,
                hops,
            },
        )
    }

    fn any_block() -> impl Strategy<Value = XrBlock> {
        let last = any::<(u32, u32, u32)>().prop_map(|(ssrc, last_report, delay)| LastReceiverTime {
            ssrc,
            last_report: NtpShort::from_bits(last_report),
            delay: NtpShort::from_bits(delay),
        });
        prop_oneof![
            any::<u64>().prop_map(|bits| XrBlock::ReceiverTime(NtpTime::from_bits(bits))),
            prop::collection::vec(last, 0..5).prop_map(XrBlock::SinceReceiverTime),
            any_runs().prop_map(XrBlock::Losses),
            any_runs().prop_map(XrBlock::Duplicates),
            any::<(u32, u16, Vec<u32>)>()
                .prop_map(|(ssrc, begin, times)| { XrBlock::ReceiptTimes(ReceiptTimes { ssrc, begin, times }) }),
            any_summary().prop_map(XrBlock::Statistics),
            (any::<bool>(), any_runs()).prop_map(|(early, packets)| XrBlock::Discards { early, packets }),
            any::<(u32, bool, bool, u32)>().prop_map(|(ssrc, early, cumulative, bytes)| {
                let bytes = Bytes::new(bytes.into());
                XrBlock::BytesDiscarded(BytesDiscarded { ssrc, early, cumulative, bytes })
            }),
            (27u8..=255, any::<u8>(), any::<Vec<[u8; 4]>>()).prop_map(|(kind, specific, data)| XrBlock::Other {
                kind,
                specific,
                data: data.concat(),
            }),
        ]
    }

    proptest! {
        #[test]
        fn an_extended_report_survives(ssrc: u32, blocks in prop::collection::vec(any_block(), 0..5)) {
            testing::survives(Packet::Xr(Xr { ssrc, blocks }))?;
        }
    }
}
