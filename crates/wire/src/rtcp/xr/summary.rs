//! Statistics of a stretch of a stream in a few numbers (RFC 3611 section 4.6, RFC 7243).

use alloc::vec::Vec;

use thalweg_units::Bytes;

use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// Losses, copies, jitter and hops of a stretch of a stream; what is not reported is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatisticsSummary {
    /// The stream.
    pub ssrc: u32,
    /// The first packet's number ...
    pub begin: u16,
    /// ... and the one after the last.
    pub end: u16,
    /// Packets that did not come.
    pub lost: Option<u32>,
    /// Copies of packets that did.
    pub duplicates: Option<u32>,
    /// How much the time on the way changed from one packet to the next, in ticks of the stream's RTP clock.
    pub jitter: Option<Spread<u32>>,
    /// The hops packets had left when they came.
    pub hops: Option<(Hops, Spread<u8>)>,
}

/// How values lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spread<T> {
    /// The smallest.
    pub min: T,
    /// The largest.
    pub max: T,
    /// Their mean, rounded to the nearest.
    pub mean: T,
    /// Their standard deviation, rounded to the nearest.
    pub deviation: T,
}

/// Whose count of hops it is.
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
/// Where the two bits of the kind of hops begin.
const HOPS: u32 = 3;

impl StatisticsSummary {
    /// 32-bit words behind the block's header.
    pub(super) const WORDS: usize = 9;

    /// Reads what is behind a block's header, which had this second byte; `None` if a field has a value that is not
    /// defined, as receivers must pass over such blocks, or the kind of hops is none.
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

    /// The second byte of the block's header, and what is behind it.
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

/// Bytes of payload that came and were discarded by the buffer before the decoder (RFC 7243).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BytesDiscarded {
    /// The stream.
    pub ssrc: u32,
    /// Whether they came too early for the buffer; otherwise too late.
    pub early: bool,
    /// Whether they are all since the stream began; otherwise those since the last report.
    pub cumulative: bool,
    /// How many. The two highest numbers say that there were more than can be reported, and that nothing is known.
    pub bytes: Bytes,
}

/// Interval metrics: since the last report (RFC 6792).
const INTERVAL: u8 = 0b10;
/// Since the beginning.
const CUMULATIVE: u8 = 0b11;
const EARLY: u8 = 0x20;

impl BytesDiscarded {
    /// 32-bit words behind the block's header.
    pub(super) const WORDS: usize = 2;

    /// Reads what is behind a block's header, which had this second byte; `None` if that says nothing of the stretch it
    /// is of.
    pub(super) fn parse(flags: u8, reader: &mut Reader<'_>) -> Result<Option<BytesDiscarded>, ParseError> {
        let ssrc = reader.u32("extended report block's SSRC")?;
        let bytes = Bytes::new(reader.u32("bytes discarded")?.into());
        let (early, interval) = (flags & EARLY != 0, flags >> 6);
        let is_known = matches!(interval, INTERVAL | CUMULATIVE);
        Ok(is_known.then_some(BytesDiscarded { ssrc, early, cumulative: interval == CUMULATIVE, bytes }))
    }

    /// The second byte of the block's header, and what is behind it.
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
