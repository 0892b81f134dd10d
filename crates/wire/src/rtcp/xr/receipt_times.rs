//! Receipt times of consecutive packets of a stream (RFC 3611 section 4.3).

use alloc::vec::Vec;

use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// Receipt times of consecutive packets that were all received: a missing packet starts a new block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptTimes {
    /// SSRC of the stream.
    pub ssrc: u32,
    /// The first packet's sequence number.
    pub begin: u16,
    /// Arrival time of each packet, in ticks of the stream's RTP clock from an origin that the receiver chooses; at
    /// most 65,533 entries (the length field of the block counts two words more).
    pub times: Vec<u32>,
}

impl ReceiptTimes {
    /// Max number of times in one block.
    pub const MAX: usize = 65_533;

    /// The packets from number `begin` on (wrapping) with the time of each that was received, in as many blocks as
    /// necessary.
    pub fn of(ssrc: u32, begin: u16, times: impl IntoIterator<Item = Option<u32>>) -> Vec<ReceiptTimes> {
        let mut blocks: Vec<ReceiptTimes> = Vec::new();
        let mut follows = false;
        for (place, time) in times.into_iter().enumerate() {
            if let Some(time) = time {
                match blocks.last_mut().filter(|block| follows && block.times.len() < ReceiptTimes::MAX) {
                    Some(block) => block.times.push(time),
                    None => {
                        let begin = begin.wrapping_add(place as u16);
                        blocks.push(ReceiptTimes { ssrc, begin, times: [time].to_vec() });
                    }
                }
            }
            follows = time.is_some();
        }
        blocks
    }

    /// The packets with the time of each, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u32)> + '_ {
        (0u16..).map(|place| self.begin.wrapping_add(place)).zip(self.times.iter().copied())
    }

    /// Parses the bytes after a block's header; `None` if the number of times differs from the number of packets.
    pub(super) fn parse(reader: &mut Reader<'_>) -> Result<Option<ReceiptTimes>, ParseError> {
        let ssrc = reader.u32("extended report block's SSRC")?;
        let begin = reader.u16("first packet of an extended report block")?;
        let end = reader.u16("end of an extended report block")?;
        if reader.left() != 4 * usize::from(end.wrapping_sub(begin)) {
            return Ok(None);
        }
        let times = (0..reader.left() / 4).map(|_| reader.u32("receipt time")).collect::<Result<_, _>>()?;
        Ok(Some(ReceiptTimes { ssrc, begin, times }))
    }

    /// The bytes after a block's header.
    pub(super) fn write(&self) -> Result<Vec<u8>, WriteError> {
        let (count, max) = (self.times.len() as u64, ReceiptTimes::MAX as u64);
        WriteError::check("packets in an extended report's receipt times", count, 0, max)?;
        let mut out = Vec::with_capacity(8 + 4 * self.times.len());
        out.extend_from_slice(&self.ssrc.to_be_bytes());
        out.extend_from_slice(&self.begin.to_be_bytes());
        out.extend_from_slice(&self.begin.wrapping_add(self.times.len() as u16).to_be_bytes());
        out.extend(self.times.iter().flat_map(|time| time.to_be_bytes()));
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_after_the_last_and_there_is_a_time_for_each() {
        let reported = ReceiptTimes { ssrc: 7, begin: 65_535, times: [5, 9].to_vec() };
        let bytes = [0, 0, 0, 7, 0xff, 0xff, 0, 1, 0, 0, 0, 5, 0, 0, 0, 9];
        assert_eq!(reported.write().unwrap(), bytes);
        assert_eq!(reported.iter().collect::<Vec<_>>(), [(65_535, 5), (0, 9)]);
        assert_eq!(ReceiptTimes::parse(&mut Reader::new(&bytes)), Ok(Some(reported)));
        assert_eq!(ReceiptTimes::parse(&mut Reader::new(&bytes[..12])), Ok(None), "two packets, one time");
    }

    #[test]
    fn where_a_packet_is_missing_another_block_begins() {
        let blocks = ReceiptTimes::of(7, 65_534, [None, Some(1), Some(2), None, None, Some(3)]);
        let reported: Vec<Vec<_>> = blocks.iter().map(|block| block.iter().collect()).collect();
        assert_eq!(reported, [[(65_535, 1), (0, 2)].to_vec(), [(3, 3)].to_vec()]);
        assert_eq!(ReceiptTimes::of(7, 0, [None, None]), []);
        let long = ReceiptTimes::of(7, 9, core::iter::repeat_n(Some(1), 65_535));
        assert_eq!(
            long.iter().map(|block| (block.begin, block.times.len())).collect::<Vec<_>>(),
            [(9, 65_533), (6, 2)]
        );
    }

    #[test]
    fn more_than_the_block_has_room_for_is_refused() {
        let times = |count| ReceiptTimes { ssrc: 7, begin: 3, times: [1].repeat(count) }.write();
        assert!(times(ReceiptTimes::MAX).is_ok() && times(ReceiptTimes::MAX + 1).is_err());
    }
}
