//! The quantisers of a frame (RFC 6386 section 9.6).

use crate::bool_coder::{Reader, Writer};

/// The quantiser index of luma coefficients, and the offsets of the other indices, -15 to 15 each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct QuantizerHeader {
    /// For luma coefficients except the first, 0 (finest) to 127.
    pub luma: u8,
    /// For luma blocks' first coefficients.
    pub luma_first: Option<i8>,
    /// For Y2 blocks' first coefficients.
    pub y2_first: Option<i8>,
    /// For Y2 blocks' other coefficients.
    pub y2: Option<i8>,
    /// For chroma blocks' first coefficients.
    pub chroma_first: Option<i8>,
    /// For chroma blocks' other coefficients.
    pub chroma: Option<i8>,
}

impl QuantizerHeader {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let luma = reader.small(7);
        let mut delta = || reader.optional(|reader| reader.signed(4));
        let (luma_first, y2_first, y2) = (delta(), delta(), delta());
        Self { luma, luma_first, y2_first, y2, chroma_first: delta(), chroma: delta() }
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.literal(7, u32::from(self.luma));
        for delta in [self.luma_first, self.y2_first, self.y2, self.chroma_first, self.chroma] {
            writer.optional(delta, |writer, delta| writer.signed(4, delta));
        }
    }
}
