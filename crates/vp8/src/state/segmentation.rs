//! The segment of each macroblock, and the values of the segments.

use std::sync::Arc;

use crate::syntax::header::SegmentUpdates;

/// The quantisers and loop filter levels of the four segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SegmentValues {
    /// True if the values replace the frame's; otherwise they are added to them.
    pub are_absolute: bool,
    /// Quantiser indices, -127 to 127.
    pub quantizers: [i8; 4],
    /// Loop filter levels, -63 to 63.
    pub levels: [i8; 4],
}

impl From<SegmentUpdates> for SegmentValues {
    fn from(updates: SegmentUpdates) -> Self {
        Self {
            are_absolute: updates.are_absolute,
            quantizers: updates.quantizers.map(Option::unwrap_or_default),
            levels: updates.levels.map(Option::unwrap_or_default),
        }
    }
}

impl SegmentValues {
    /// The quantiser index of a segment, 0 to 127, from the frame's index.
    #[must_use]
    pub fn quantizer(&self, segment: usize, of_frame: u8) -> u8 {
        self.value(self.quantizers[segment], of_frame, 127)
    }

    /// The loop filter level of a segment, 0 to 63, from the frame's level.
    #[must_use]
    pub fn level(&self, segment: usize, of_frame: u8) -> u8 {
        self.value(self.levels[segment], of_frame, 63)
    }

    fn value(&self, value: i8, of_frame: u8, max: i16) -> u8 {
        let base = if self.are_absolute { 0 } else { i16::from(of_frame) };
        (base + i16::from(value)).clamp(0, max) as u8
    }
}

/// The segment (0 to 3) of each macroblock in raster order, packed four to a byte; copies share memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SegmentMap {
    /// `None` when all are in segment 0.
    packed: Option<Arc<[u8]>>,
}

impl SegmentMap {
    /// Packs the segment of each macroblock.
    #[must_use]
    pub fn of(segments: &[u8]) -> Self {
        if segments.iter().all(|&segment| segment == 0) {
            return Self::default();
        }
        let pack = |four: &[u8]| four.iter().rev().fold(0, |packed, segment| packed << 2 | segment & 3);
        Self { packed: Some(segments.chunks(4).map(pack).collect()) }
    }

    /// The segment of a macroblock, by its index in raster order.
    #[must_use]
    pub fn segment(&self, macroblock: usize) -> u8 {
        self.packed.as_ref().map_or(0, |packed| packed[macroblock / 4] >> (macroblock % 4 * 2) & 3)
    }

    /// Four macroblocks per byte; empty when all are in segment 0.
    pub(super) fn bytes(&self) -> &[u8] {
        self.packed.as_deref().unwrap_or_default()
    }

    /// The map with these [`bytes`](Self::bytes).
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        Self { packed: bytes.iter().any(|&byte| byte != 0).then(|| bytes.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_gives_back_what_it_was_made_of() {
        let segments: Vec<u8> = (0..27_u32).map(|i| (i * i % 4) as u8 ^ (i % 3) as u8 & 3).collect();
        let map = SegmentMap::of(&segments);
        assert_eq!((0..27).map(|i| map.segment(i)).collect::<Vec<_>>(), segments);
        assert_eq!(SegmentMap::of_bytes(map.bytes()), map);
        assert_eq!(SegmentMap::of(&[0; 27]), SegmentMap::default());
    }

    #[test]
    fn values_are_added_to_the_frames_or_replace_them() {
        let values = SegmentValues { are_absolute: false, quantizers: [-20, 0, 1, 127], levels: [-63, 0, 5, 63] };
        assert_eq!([0, 1, 2, 3].map(|segment| values.quantizer(segment, 10)), [0, 10, 11, 127]);
        assert_eq!([0, 1, 2, 3].map(|segment| values.level(segment, 10)), [0, 10, 15, 63]);
        let absolute = SegmentValues { are_absolute: true, ..values };
        assert_eq!([0, 1, 2, 3].map(|segment| absolute.quantizer(segment, 10)), [0, 0, 1, 127]);
    }
}
