//! Summary statistics of consecutive packets of a stream (RFC 3611 section 4.6, RFC 7243).

use alloc::vec::Vec;

use thalweg_units::Bytes;

use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// Losses, duplicates, jitter and hop limits of consecutive packets of a stream; `None` where not reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatisticsSummary {
    /// SSRC of the stream.
    pub ssrc: u32,
    /// The first packet's sequence number.
    pub begin: u16,
    /// The sequence number after the last packet.
    pub end: u16,
    /// Number of packets lost.
    pub lost: Option<u32>,
    /// Number of duplicates.
    pub duplicates: Option<u32>,
    /// Change in transit time from packet to packet, in ticks of the stream's RTP clock.
    pub jitter: Option<Spread<u32>>,
    /// The TTL or hop limit of packets on arrival.
    pub hops: Option<(Hops, Spread<u8>)>,
}

/// Distribution of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spread<T> {
    /// The smallest.
    pub min: T,
    /// The largest.
    pub max: T,
    /// Their mean, rounded to the nearest integer.
    pub mean: T,
    /// Their standard deviation, rounded to the nearest integer.
    pub deviation: T,
}

/// Which header field the hop values are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hops {
    /// The time to live of IPv4.
    Ipv4 = 1,
    /// The hop limit of IPv6.
    Ipv6 = 2,
}

const LOST: u8 = 0x80;
const DUPLICATES: u8 = 0x40;
const JITTER: u8 = 0x20;
/// Position of the two bits that select the header field.
const HOPS: u32 = 3;

impl StatisticsSummary {
    /// 32-bit words after the block's header.
    pub(super) const WORDS: usize = 9;

    /// Parses the bytes after a block's header with this second byte; `None` if a field has an undefined value
    /// (receivers must ignore such blocks), or the kind of hop value is undefined.
    pub(super) fn parse(flags: u8, reader: &mut Reader<'_>) -> Result<Option<StatisticsSummary>, ParseError> {
        let ssrc = reader.u32("extended report block's SSRC")?;
        let begin = reader.u16("first packet of an extended report block")?;
        let end = reader.u16("end of an extended report block")?;
        let mut word = || reader.u32("extended report's statistics");
        let (lost, duplicates) = (word()?, word()?);
        let jitter = Spread { min: word()?, max: word()?, mean: word()?, deviation: word()? };
        let [min, max, mean, deviation] = word()?.to_be_bytes();
        let hops = Spread { min, max, mean, deviation };
        let kind = match flags >> HOPS & 3 {
            0 => None,
            1 => Some(Hops::Ipv4),
            2 => Some(Hops::Ipv6),
            _ => return Ok(None),
        };
        let reported = |bit: u8, is_zero: bool| flags & bit != 0 || is_zero;
        let is_valid = reported(LOST, lost == 0)
            && reported(DUPLICATES, duplicates == 0)
            && reported(JITTER, jitter == Spread::default())
            && (kind.is_some() || hops == Spread::default());
        Ok(is_valid.then_some(StatisticsSummary {
            ssrc,
            begin,
            end,
            lost: (flags & LOST != 0).then_some(lost),
            duplicates: (flags & DUPLICATES != 0).then_some(duplicates),
            jitter: (flags & JITTER != 0).then_some(jitter),
            hops: kind.map(|kind| (kind, hops)),
        }))
    }

    /// The second byte of the block's header, and the bytes after the header.
    pub(super) fn write(&self) -> (u8, Vec<u8>) {
        let flag = |bit: u8, is_told: bool| if is_told { bit } else { 0 };
        let (kind, hops) = self.hops.map_or((0, Spread::default()), |(kind, hops)| (kind as u8, hops));
        let flags = flag(LOST, self.lost.is_some())
            | flag(DUPLICATES, self.duplicates.is_some())
            | flag(JITTER, self.jitter.is_some())
            | kind << HOPS;
        let stretch = u32::from(self.begin) << 16 | u32::from(self.end);
        let jitter = self.jitter.unwrap_or_default();
        let words = [
            self.ssrc,
            stretch,
            self.lost.unwrap_or_default(),
            self.duplicates.unwrap_or_default(),
            jitter.min,
            jitter.max,
            jitter.mean,
            jitter.deviation,
            u32::from_be_bytes([hops.min, hops.max, hops.mean, hops.deviation]),
        ];
        (flags, words.iter().flat_map(|word| word.to_be_bytes()).collect())
    }
}

/// Payload bytes that were received and discarded by the jitter buffer before the decoder (RFC 7243).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BytesDiscarded {
    /// SSRC of the stream.
    pub ssrc: u32,
    /// True if they came too early for the buffer; otherwise too late.
    pub early: bool,
    /// True if the count is since the stream began; otherwise it is since the last report.
    pub cumulative: bool,
    /// Number of bytes. The two highest values mean that the count is too large to report, and that it is unknown.
    pub bytes: Bytes,
}

/// Interval metrics: since the last report (RFC 6792).
const INTERVAL: u8 = 0b10;
/// Since the beginning.
const CUMULATIVE: u8 = 0b11;
const EARLY: u8 = 0x20;

impl BytesDiscarded {
    /// 32-bit words after the block's header.
    pub(super) const WORDS: usize = 2;

    /// Parses the bytes after a block's header with this second byte; `None` if that does not define the interval.
    pub(super) fn parse(flags: u8, reader: &mut Reader<'_>) -> Result<Option<BytesDiscarded>, ParseError> {
        let ssrc = reader.u32("extended report block's SSRC")?;
        let bytes = Bytes::new(reader.u32("bytes discarded")?.into());
        let (early, interval) = (flags & EARLY != 0, flags >> 6);
        let is_known = matches!(interval, INTERVAL | CUMULATIVE);
        Ok(is_known.then_some(BytesDiscarded { ssrc, early, cumulative: interval == CUMULATIVE, bytes }))
    }

    /// The second byte of the block's header, and the bytes after the header.
    pub(super) fn write(&self) -> Result<(u8, Vec<u8>), WriteError> {
        WriteError::check("bytes discarded", self.bytes.get(), 0, u32::MAX.into())?;
        let interval = if self.cumulative { CUMULATIVE } else { INTERVAL };
        let flags = interval << 6 | if self.early { EARLY } else { 0 };
        let words = [self.ssrc, self.bytes.get() as u32];
        Ok((flags, words.iter().flat_map(|word| word.to_be_bytes()).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_told_is_zero_and_a_block_where_it_is_not_is_passed_over() {
        let summary = StatisticsSummary { ssrc: 7, begin: 3, end: 9, lost: Some(2), ..StatisticsSummary::default() };
        let (flags, mut bytes) = summary.write();
        assert_eq!((flags, bytes.len()), (0x80, 4 * StatisticsSummary::WORDS));
        assert_eq!(StatisticsSummary::parse(flags, &mut Reader::new(&bytes)), Ok(Some(summary)));
        for place in [15, 19, 31, 35] {
            bytes[place] = 1;
            assert_eq!(StatisticsSummary::parse(flags, &mut Reader::new(&bytes)), Ok(None), "byte {place}");
            bytes[place] = 0;
        }
        assert_eq!(StatisticsSummary::parse(flags | 3 << 3, &mut Reader::new(&bytes)), Ok(None), "no kind of hops");
    }

    #[test]
    fn bytes_are_of_an_interval_or_of_all_time() {
        let discarded = BytesDiscarded { ssrc: 7, early: true, cumulative: true, bytes: Bytes::new(0x0102_0304) };
        assert_eq!(discarded.write(), Ok((0xe0, [0, 0, 0, 7, 1, 2, 3, 4].to_vec())));
        let read = |flags| BytesDiscarded::parse(flags, &mut Reader::new(&[0, 0, 0, 7, 1, 2, 3, 4]));
        assert_eq!(read(0xe0), Ok(Some(discarded)));
        assert_eq!(read(0x80), Ok(Some(BytesDiscarded { early: false, cumulative: false, ..discarded })));
        assert_eq!((read(0x00), read(0x40)), (Ok(None), Ok(None)));
        assert!(BytesDiscarded { bytes: Bytes::new(1 << 32), ..discarded }.write().is_err());
    }
}
