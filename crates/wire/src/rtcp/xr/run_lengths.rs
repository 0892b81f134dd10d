//! One bit for each of consecutive packets of a stream, as runs and bit vectors (RFC 3611 section 4.1).

use alloc::vec::Vec;

use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// The bit that marks a chunk as a vector.
const VECTOR: u16 = 1 << 15;
/// Bits in a vector.
const PLACES: u32 = 15;
/// The bit that holds the value of a run.
const SET: u16 = 1 << 14;
/// Max run length.
const RUN: u16 = SET - 1;

/// A bit for each packet from a first one on.
///
/// For losses a set bit means that the packet was received, for duplicates that at most one copy was. For discards we
/// take it to mean that the packet was discarded, because RFC 7097 only speaks of chunks "representing packets
/// discarded".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLengths {
    /// SSRC of the stream.
    pub ssrc: u32,
    begin: u16,
    end: u16,
    /// As on the wire, without the terminating null chunk.
    chunks: Vec<u16>,
}

impl RunLengths {
    /// Max number of packets in one block (RFC 3611 section 4.1).
    pub const MAX: u16 = 65_534;

    /// The packets from number `begin` on (wrapping), with a bit for each.
    ///
    /// # Errors
    /// More than [`RunLengths::MAX`].
    pub fn of(ssrc: u32, begin: u16, bits: impl IntoIterator<Item = bool>) -> Result<RunLengths, WriteError> {
        let max = usize::from(RunLengths::MAX);
        let bits: Vec<bool> = bits.into_iter().take(max + 1).collect();
        WriteError::check("packets in an extended report's run lengths", bits.len() as u64, 0, max as u64)?;
        let end = begin.wrapping_add(bits.len() as u16);
        let (mut chunks, mut left) = (Vec::new(), &bits[..]);
        while let Some(first) = left.first() {
            let run = left.iter().take(RUN.into()).take_while(|bit| *bit == first).count();
            // A vector at the end may have unused bits; a run at the end is encoded more simply.
            let taken = if run >= PLACES as usize || run == left.len() { run } else { left.len().min(PLACES as usize) };
            chunks.push(if taken == run {
                if *first { SET | run as u16 } else { run as u16 }
            } else {
                let place = |(place, bit): (u32, &bool)| u16::from(*bit) << (PLACES - 1 - place);
                (0..).zip(&left[..taken]).map(place).fold(VECTOR, |chunk, bit| chunk | bit)
            });
            left = &left[taken..];
        }
        Ok(RunLengths { ssrc, begin, end, chunks })
    }

    /// Sequence number of the first reported packet.
    pub fn begin(&self) -> u16 {
        self.begin
    }

    /// The sequence number after the last reported packet.
    pub fn end(&self) -> u16 {
        self.end
    }

    /// Max number of reported packets; the chunks may cover fewer.
    pub fn span(&self) -> u16 {
        self.end.wrapping_sub(self.begin)
    }

    /// The packets with the bit of each, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u16, bool)> + '_ {
        let bits = self.chunks.iter().flat_map(|chunk| {
            let (chunk, count) = (*chunk, if chunk & VECTOR == 0 { (chunk & RUN).into() } else { PLACES });
            let bit = move |place| if chunk & VECTOR == 0 { chunk & SET } else { chunk >> (PLACES - 1 - place) & 1 };
            (0..count).map(move |place| bit(place) != 0)
        });
        (0..self.span()).map(|place| self.begin.wrapping_add(place)).zip(bits)
    }

    /// The packets whose bit equals `bit`.
    pub fn sequences(&self, bit: bool) -> impl Iterator<Item = u16> + '_ {
        self.iter().filter(move |(_, other)| *other == bit).map(|(sequence, _)| sequence)
    }

    /// Parses the bytes after a block's header.
    pub(super) fn parse(reader: &mut Reader<'_>) -> Result<RunLengths, ParseError> {
        let ssrc = reader.u32("extended report block's SSRC")?;
        let begin = reader.u16("first packet of an extended report block")?;
        let end = reader.u16("end of an extended report block")?;
        let mut chunks = Vec::with_capacity(reader.left() / 2);
        while reader.left() >= 2 {
            match reader.u16("run length chunk")? {
                0 => break,
                chunk => chunks.push(chunk),
            }
        }
        Ok(RunLengths { ssrc, begin, end, chunks })
    }

    /// The bytes after a block's header.
    pub(super) fn write(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(12 + 2 * self.chunks.len());
        out.extend_from_slice(&self.ssrc.to_be_bytes());
        out.extend_from_slice(&self.begin.to_be_bytes());
        out.extend_from_slice(&self.end.to_be_bytes());
        out.extend(self.chunks.iter().flat_map(|chunk| chunk.to_be_bytes()));
        out.resize(out.len().next_multiple_of(4), 0);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chunks(bits: impl IntoIterator<Item = bool>) -> Vec<u16> {
        RunLengths::of(7, 65_530, bits).unwrap().chunks
    }

    #[test]
    fn long_runs_are_runs_and_what_changes_is_vectors() {
        assert_eq!(chunks([true; 20]), [0x4000 | 20]);
        assert_eq!(chunks([false; 3]), [3]);
        // The RFC's example of a vector is of 15 packets, most significant bit first.
        assert_eq!(chunks((0..15).map(|place| place % 2 == 0)), [0x8000 | 0b101_0101_0101_0101]);
        assert_eq!(chunks((0..40).map(|place| place != 4)), [0x8000 | 0b111_1011_1111_1111, 0x4000 | 25]);
        assert_eq!(chunks([true; 40_000]), [0x7fff, 0x7fff, 0x4000 | (40_000 - 2 * 16_383)]);
        assert_eq!(chunks([]), []);
    }

    #[test]
    fn numbers_go_on_after_the_last_and_a_vector_ends_with_the_stretch() {
        let reported = RunLengths::of(7, 65_534, [true, false, true, true]).unwrap();
        assert_eq!((reported.begin(), reported.end(), reported.span()), (65_534, 2, 4));
        assert_eq!(reported.iter().collect::<Vec<_>>(), [(65_534, true), (65_535, false), (0, true), (1, true)]);
        assert_eq!(reported.sequences(false).collect::<Vec<_>>(), [65_535]);
    }

    #[test]
    fn more_than_one_block_may_tell_of_is_refused() {
        assert!(RunLengths::of(7, 0, [true; 65_534]).is_ok());
        assert!(RunLengths::of(7, 0, [true; 65_535]).is_err());
    }

    #[test]
    fn chunks_that_end_early_tell_of_fewer_and_null_ends_them() {
        let bytes = [0, 0, 0, 7, 0, 10, 0, 100, 0x40, 3, 0, 0, 0xff, 0xff, 0x40, 9];
        let reported = RunLengths::parse(&mut Reader::new(&bytes)).unwrap();
        assert_eq!(reported.sequences(true).collect::<Vec<_>>(), [10, 11, 12]);
        assert_eq!(reported.write(), bytes[..12]);
    }

    proptest! {
        #[test]
        fn what_is_written_tells_of_the_same_packets(
            begin: u16,
            runs in prop::collection::vec((any::<bool>(), prop_oneof![1usize..4, 1usize..40, 16_000usize..17_000]), 0..12),
        ) {
            let bits = runs.iter().flat_map(|(bit, count)| core::iter::repeat_n(*bit, *count));
            let bits: Vec<bool> = bits.take(65_534).collect();
            let reported = RunLengths::of(7, begin, bits.iter().copied()).unwrap();
            let read = RunLengths::parse(&mut Reader::new(&reported.write())).unwrap();
            prop_assert_eq!(&read, &reported);
            prop_assert!(read.iter().map(|(_, bit)| bit).eq(bits.iter().copied()));
            prop_assert!(read.iter().zip(0..).all(|((sequence, _), place)| sequence == begin.wrapping_add(place)));
        }

        #[test]
        fn no_bytes_panic_and_none_tells_of_more_than_its_span(bytes: Vec<u8>) {
            if let Ok(reported) = RunLengths::parse(&mut Reader::new(&bytes)) {
                prop_assert!(reported.iter().count() <= reported.span().into());
            }
        }
    }
}
