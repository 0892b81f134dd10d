//! The loop filter's settings (RFC 6386 sections 9.4 and 15).

use crate::bool_coder::{Reader, Writer};

/// What a frame says of its loop filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FilterHeader {
    /// Whether it is the simple filter, which leaves chroma alone.
    pub is_simple: bool,
    /// How strong it is, 0 (the frame is not filtered, whatever segments and deltas say) to 63.
    pub level: u8,
    /// How much it leaves details alone, 0 to 7.
    pub sharpness: u8,
    /// Whether the level depends on how a macroblock is predicted, and if so what changes in by how much; none in the second
    /// place when nothing does.
    pub deltas: Option<Option<DeltaUpdates>>,
}

/// What is added to the level of some macroblocks, -63 to 63 each; what is not said stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct DeltaUpdates {
    /// Of those predicted from: their own frame, the last, the golden, the altref frame.
    pub references: [Option<i8>; 4],
    /// Of those predicted: in intra subblocks, without motion, with one vector, with several.
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
