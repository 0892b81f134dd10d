//! Segments: sets of macroblocks that share a quantiser and a loop filter level (RFC 6386 sections 9.3 and 10).

use crate::bool_coder::{Probability, Reader, Writer};

/// The segmentation fields of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SegmentationHeader {
    /// The probabilities for coding each macroblock's segment; `None` when the segment map is kept. A probability of
    /// `None` is 255.
    pub map: Option<[Option<Probability>; 3]>,
    /// New quantisers and levels; `None` when they are kept.
    pub values: Option<SegmentUpdates>,
}

/// The quantisers and loop filter levels of the four segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SegmentUpdates {
    /// True if the values replace the frame's; otherwise they are added to them.
    pub are_absolute: bool,
    /// Quantiser indices, -127 to 127; `None` is 0.
    pub quantizers: [Option<i8>; 4],
    /// Loop filter levels, -63 to 63; `None` is 0.
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

    /// The probabilities for coding segments; `None` when they are not coded.
    #[must_use]
    pub fn map_probabilities(&self) -> Option<[Probability; 3]> {
        self.map.map(|map| map.map(|probability| probability.unwrap_or(255)))
    }
}
