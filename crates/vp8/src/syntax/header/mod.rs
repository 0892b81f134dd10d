//! The header of a frame (RFC 6386 sections 9 and 19.2), each optional field an `Option`, so that what was read can be
//! written again bit by bit.

mod filter;
mod kind;
mod probabilities;
mod quantizer;
mod segmentation;
mod tag;

pub use filter::{DeltaUpdates, FilterHeader};
pub use kind::{FrameKind, InterHeader, KeyHeader, ReferenceUpdate, Scaling};
pub use probabilities::{CoefficientUpdates, VectorUpdates};
pub use quantizer::QuantizerHeader;
pub use segmentation::{SegmentUpdates, SegmentationHeader};
pub use tag::{FrameTag, KEY_START_CODE, LARGEST_FIRST_PARTITION};

use super::corrupt::Corrupt;
use crate::bool_coder::{Probability, Reader, Writer};

/// Into how many partitions a frame's coefficients are divided, row by row in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Partitions {
    /// All in one.
    #[default]
    One,
    /// Two.
    Two,
    /// Four.
    Four,
    /// Eight.
    Eight,
}

impl Partitions {
    /// Every number of partitions.
    pub const ALL: [Self; 4] = [Self::One, Self::Two, Self::Four, Self::Eight];

    /// How many: 1, 2, 4 or 8.
    #[must_use]
    pub const fn count(self) -> usize {
        1 << self as usize
    }
}

/// Everything a frame says before its macroblocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameHeader {
    /// Which [interpolation](crate::predict::Interpolation::of_version) it is predicted with, 0 to 7.
    pub version: u8,
    /// Whether it is to be shown.
    pub is_shown: bool,
    /// What only key frames say, and what only the others.
    pub kind: FrameKind,
    /// Segments; none when all macroblocks are treated alike.
    pub segmentation: Option<SegmentationHeader>,
    /// The loop filter.
    pub filter: FilterHeader,
    /// How its coefficients are divided.
    pub partitions: Partitions,
    /// The quantisers.
    pub quantizer: QuantizerHeader,
    /// Whether the probabilities it changes are for the frames after it as well (`refresh_entropy_probs`).
    pub keeps_probabilities: bool,
    /// What it changes in the probabilities of coefficients.
    pub coefficients: CoefficientUpdates,
    /// The probability that a macroblock is not skipped (`prob_skip_false`); none when none is.
    pub skip: Option<Probability>,
}

impl FrameHeader {
    /// Reads the header from the first partition, after the bytes that are not in the arithmetic code.
    pub(super) fn read(tag: &FrameTag, reader: &mut Reader<'_>) -> Result<Self, Corrupt> {
        let key = tag.key.map(|start| KeyHeader::read(start, reader));
        let segmentation = reader.optional(SegmentationHeader::read);
        let filter = FilterHeader::read(reader);
        let partitions = Partitions::ALL[usize::from(reader.small(2))];
        let quantizer = QuantizerHeader::read(reader);
        let (kind, keeps_probabilities) = match key {
            Some(key) => (FrameKind::Key(key), reader.flag()),
            None => {
                let (inter, keeps_probabilities) = InterHeader::read_references(reader)?;
                (FrameKind::Inter(inter), keeps_probabilities)
            }
        };
        let coefficients = CoefficientUpdates::read(reader);
        let skip = reader.optional(|reader| reader.small(8));
        let kind = match kind {
            FrameKind::Key(key) => FrameKind::Key(key),
            FrameKind::Inter(mut inter) => {
                inter.read_probabilities(reader);
                FrameKind::Inter(inter)
            }
        };
        Ok(Self {
            version: tag.version,
            is_shown: tag.is_shown,
            kind,
            segmentation,
            filter,
            partitions,
            quantizer,
            keeps_probabilities,
            coefficients,
            skip,
        })
    }

    /// Writes what [`read`](Self::read) reads.
    pub(super) fn write(&self, writer: &mut Writer) {
        if let FrameKind::Key(key) = &self.kind {
            key.write(writer);
        }
        writer.optional(self.segmentation.as_ref(), |writer, segmentation| segmentation.write(writer));
        self.filter.write(writer);
        writer.literal(2, self.partitions as u32);
        self.quantizer.write(writer);
        match &self.kind {
            FrameKind::Key(_) => writer.flag(self.keeps_probabilities),
            FrameKind::Inter(inter) => inter.write_references(writer, self.keeps_probabilities),
        }
        self.coefficients.write(writer);
        writer.optional(self.skip, |writer, skip| writer.literal(8, u32::from(skip)));
        if let FrameKind::Inter(inter) = &self.kind {
            inter.write_probabilities(writer);
        }
    }

    /// What the frame says before the arithmetic code begins, given how many bytes the first partition has.
    pub(super) fn tag(&self, first_partition: usize) -> FrameTag {
        FrameTag { version: self.version, is_shown: self.is_shown, first_partition, key: self.kind.start() }
    }
}
