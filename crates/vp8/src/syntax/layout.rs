//! The layout of a frame (RFC 6386 sections 9.1 and 9.5): the tag, the first partition (the header and all modes), the
//! lengths of all partitions of coefficients except the last, and these partitions.

use super::corrupt::{Corrupt, WriteError};
use super::header::{FrameHeader, FrameTag, LARGEST_FIRST_PARTITION, Partitions};
use crate::bool_coder::{Reader, Writer};

/// Size of a partition's length field in bytes.
const LENGTH_BYTES: usize = 3;

/// A frame whose header has been read.
#[derive(Debug, Clone)]
pub struct OpenFrame<'a> {
    /// The header.
    pub header: FrameHeader,
    /// Reads the macroblocks' modes.
    pub modes: Reader<'a>,
    /// Read the macroblocks' coefficients, with rows in turn; as many readers as the header says.
    pub partitions: Vec<Reader<'a>>,
    /// The lengths of the frame's parts.
    pub lengths: PartLengths,
}

/// The lengths of a frame's parts in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PartLengths {
    /// The part outside of the arithmetic code: the tag and the list of partitions.
    pub plain: usize,
    /// The first partition: the header and all modes.
    pub first: usize,
    /// The partitions of coefficients; 0 for those that do not exist.
    pub coefficients: [usize; 8],
}

impl<'a> OpenFrame<'a> {
    /// Reads a frame's header and finds its partitions. Memory and time are bounded by the frame's length.
    ///
    /// # Errors
    /// When libvpx rejects the frame as well: a part exceeds its length, or a field is invalid.
    pub fn new(frame: &'a [u8]) -> Result<Self, Corrupt> {
        let (tag, rest) = FrameTag::read(frame)?;
        if tag.first_partition == 0 {
            return Err(Corrupt::EmptyFirstPartition);
        }
        let truncated = |what, expected: usize| Corrupt::Truncated { what, length: frame.len(), expected };
        let before = frame.len() - rest.len();
        let Some((_, after)) = rest.split_at_checked(tag.first_partition) else {
            return Err(truncated("first partition", before + tag.first_partition));
        };
        // As in libvpx the reader may continue into the following data, which happens only for corrupt frames.
        let mut modes = Reader::new(rest);
        let header = FrameHeader::read(&tag, &mut modes)?;
        let count = header.partitions.count();
        let Some((lengths, mut data)) = after.split_at_checked(LENGTH_BYTES * (count - 1)) else {
            return Err(truncated("list of partitions", frame.len() - after.len() + LENGTH_BYTES * (count - 1)));
        };
        let mut partitions = Vec::with_capacity(count);
        let mut part_lengths =
            PartLengths { plain: before + lengths.len(), first: tag.first_partition, ..PartLengths::default() };
        for (index, length) in lengths.chunks_exact(LENGTH_BYTES).enumerate() {
            let length = usize::from(length[0]) | usize::from(length[1]) << 8 | usize::from(length[2]) << 16;
            // When no data is left, partitions are empty whatever their lengths.
            let length = if data.is_empty() { 0 } else { length };
            if length == 0 && !data.is_empty() {
                return Err(Corrupt::EmptyPartition { index });
            }
            let Some((partition, rest)) = data.split_at_checked(length) else {
                return Err(truncated("partition of coefficients", frame.len() - data.len() + length));
            };
            partitions.push(Reader::new(partition));
            part_lengths.coefficients[index] = length;
            data = rest;
        }
        partitions.push(Reader::new(data));
        part_lengths.coefficients[count - 1] = data.len();
        Ok(Self { header, modes, partitions, lengths: part_lengths })
    }
}

/// A frame being written.
#[derive(Debug, Clone)]
pub struct FrameWriter {
    header: FrameHeader,
    /// Writes the macroblocks' modes.
    pub modes: Writer,
    /// Write the macroblocks' coefficients, with rows in turn; as many writers as the header says.
    pub partitions: Vec<Writer>,
}

impl FrameWriter {
    /// Writes a frame's header.
    #[must_use]
    pub fn new(header: FrameHeader) -> Self {
        let mut modes = Writer::new();
        header.write(&mut modes);
        let partitions = vec![Writer::new(); header.partitions.count()];
        Self { header, modes, partitions }
    }

    /// Puts the parts together.
    ///
    /// # Errors
    /// When the first partition, or another except the last, exceeds its length field. A macroblock's modes take about
    /// a byte, so this needs a picture of about a hundred million pixels, or a very unusual encoder.
    pub fn finish(self) -> Result<Vec<u8>, WriteError> {
        let modes = self.modes.finish();
        let partitions: Vec<Vec<u8>> = self.partitions.into_iter().map(Writer::finish).collect();
        let check =
            |part, length, max| if length > max { Err(WriteError::TooLong { part, length, max }) } else { Ok(()) };
        check("first partition", modes.len(), LARGEST_FIRST_PARTITION)?;
        let mut frame = Vec::new();
        self.header.tag(modes.len()).write(&mut frame);
        frame.extend(modes);
        for partition in &partitions[..partitions.len() - 1] {
            let length = partition.len();
            check("partition of coefficients", length, (1 << (8 * LENGTH_BYTES)) - 1)?;
            frame.extend(&(length as u32).to_le_bytes()[..LENGTH_BYTES]);
        }
        frame.extend(partitions.into_iter().flatten());
        Ok(frame)
    }
}

impl Partitions {
    /// The partition of a row's coefficients.
    #[must_use]
    pub const fn of_row(self, row: usize) -> usize {
        row % self.count()
    }
}
