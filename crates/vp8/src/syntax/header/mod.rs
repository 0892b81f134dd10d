//! The header of a frame (RFC 6386 sections 9 and 19.2). Each optional field is an `Option`, so that a header can be
//! written again with the same bits.

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

/// The number of partitions of a frame's coefficients; rows go to the partitions in turn.
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

    /// The number: 1, 2, 4 or 8.
    #[must_use]
    pub const fn count(self) -> usize {
        1 << self as usize
    }
}

/// The header of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameHeader {
    /// The version, 0 to 7, which selects the [interpolation](crate::predict::Interpolation::of_version).
    pub version: u8,
    /// True for a frame to be shown.
    pub is_shown: bool,
    /// The fields of key frames only, or those of inter frames only.
    pub kind: FrameKind,
    /// Segments; `None` when the frame has none.
    pub segmentation: Option<SegmentationHeader>,
    /// The loop filter.
    pub filter: FilterHeader,
    /// The partitions of its coefficients.
    pub partitions: Partitions,
    /// The quantisers.
    pub quantizer: QuantizerHeader,
    /// True if its changes of probabilities also apply to later frames (`refresh_entropy_probs`).
    pub keeps_probabilities: bool,
    /// Its changes of the probabilities of coefficients.
    pub coefficients: CoefficientUpdates,
    /// The probability that a macroblock is not skipped (`prob_skip_false`); `None` when none is skipped.
    pub skip: Option<Probability>,
}

impl FrameHeader {
    /// Reads the header from the first partition, after the bytes outside of the arithmetic code.
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

    /// Writes the header in the format of [`read`](Self::read).
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

    /// The fields before the arithmetic code, given the length of the first partition in bytes.
    pub(super) fn tag(&self, first_partition: usize) -> FrameTag {
        FrameTag { version: self.version, is_shown: self.is_shown, first_partition, key: self.kind.start() }
    }
}
