//! Segments: sets of macroblocks that share a quantiser and a loop filter level (RFC 6386 sections 9.3 and 10).

use crate::bool_coder::{Probability, Reader, Writer};

/// What a frame says of its segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SegmentationHeader {
    /// The probabilities with which each macroblock's segment is coded; none when macroblocks stay in the segments they are in.
    /// A probability that is not said is 255.
    pub map: Option<[Option<Probability>; 3]>,
    /// New quantisers and levels; none when they stay.
    pub values: Option<SegmentUpdates>,
}

/// The quantisers and loop filter levels of the four segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SegmentUpdates {
    /// Whether the values are used as they are; otherwise they are added to the frame's.
    pub are_absolute: bool,
    /// Quantiser indices, -127 to 127; one that is not said is 0.
    pub quantizers: [Option<i8>; 4],
    /// Loop filter levels, -63 to 63; one that is not said is 0.
    pub levels: [Option<i8>; 4],
}

impl SegmentationHeader {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let (updates_map, updates_values) = (reader.flag(), reader.flag());
        Self {
            values: updates_values.then(|| SegmentUpdates {
                are_absolute: reader.flag(),
                quantizers: std::array::from_fn(|_| reader.optional(|reader| reader.signed(7))),
                levels: std::array::from_fn(|_| reader.optional(|reader| reader.signed(6))),
            }),
            map: updates_map.then(|| std::array::from_fn(|_| reader.optional(|reader| reader.small(8)))),
        }
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.flag(self.map.is_some());
        writer.flag(self.values.is_some());
        if let Some(values) = &self.values {
            writer.flag(values.are_absolute);
            for quantizer in values.quantizers {
                writer.optional(quantizer, |writer, quantizer| writer.signed(7, quantizer));
            }
            for level in values.levels {
                writer.optional(level, |writer, level| writer.signed(6, level));
            }
        }
        for probability in self.map.iter().flatten() {
            writer.optional(*probability, |writer, probability| writer.literal(8, u32::from(probability)));
        }
    }

    /// The probabilities with which segments are coded, none when they are not.
    #[must_use]
    pub fn map_probabilities(&self) -> Option<[Probability; 3]> {
        self.map.map(|map| map.map(|probability| probability.unwrap_or(255)))
    }
}
