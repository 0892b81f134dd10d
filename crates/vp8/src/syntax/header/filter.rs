//! The loop filter's settings (RFC 6386 sections 9.4 and 15).

use crate::bool_coder::{Reader, Writer};

/// The loop filter fields of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FilterHeader {
    /// True for the simple filter, which does not change chroma.
    pub is_simple: bool,
    /// The level, 0 (the frame is not filtered, whatever segments and deltas are) to 63.
    pub level: u8,
    /// Sharpness, 0 to 7: higher values preserve more detail.
    pub sharpness: u8,
    /// Updates of the level's offsets by a macroblock's prediction, `None` if the level does not depend on it; the
    /// inner `None` means no update.
    pub deltas: Option<Option<DeltaUpdates>>,
}

/// Updates of the offsets added to the level of some macroblocks, -63 to 63 each; `None` leaves a value unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct DeltaUpdates {
    /// By reference: the own frame, the last, the golden, the altref frame.
    pub references: [Option<i8>; 4],
    /// By mode: intra subblocks, no motion, one vector, several vectors.
    pub modes: [Option<i8>; 4],
}

impl FilterHeader {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        fn deltas(reader: &mut Reader<'_>) -> [Option<i8>; 4] {
            std::array::from_fn(|_| reader.optional(|reader| reader.signed(6)))
        }
        Self {
            is_simple: reader.flag(),
            level: reader.small(6),
            sharpness: reader.small(3),
            deltas: reader.optional(|reader| {
                reader.optional(|reader| DeltaUpdates { references: deltas(reader), modes: deltas(reader) })
            }),
        }
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.flag(self.is_simple);
        writer.literal(6, u32::from(self.level));
        writer.literal(3, u32::from(self.sharpness));
        writer.optional(self.deltas, |writer, updates| {
            writer.optional(updates, |writer, updates| {
                for delta in updates.references.into_iter().chain(updates.modes) {
                    writer.optional(delta, |writer, delta| writer.signed(6, delta));
                }
            });
        });
    }
}
