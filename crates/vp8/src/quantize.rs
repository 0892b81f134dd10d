//! Dequantisation factors (RFC 6386 sections 9.6 and 14.1).

use crate::syntax::header::QuantizerHeader;
use crate::syntax::tokens::MacroblockFactors;

/// The factors of first coefficients, by quantiser index.
pub const FIRST_FACTORS: [u8; 128] = [
    4, 5, 6, 7, 8, 9, 10, 10, 11, 12, 13, 14, 15, 16, 17, 17, 18, 19, 20, 20, 21, 21, 22, 22, 23, 23, 24, 25, 25, 26,
    27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 46, 47, 48, 49, 50, 51, 52, 53,
    54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 76, 77, 78, 79, 80, 81,
    82, 83, 84, 85, 86, 87, 88, 89, 91, 93, 95, 96, 98, 100, 101, 102, 104, 106, 108, 110, 112, 114, 116, 118, 122,
    124, 126, 128, 130, 132, 134, 136, 138, 140, 143, 145, 148, 151, 154, 157,
];

/// The factors of other coefficients, by quantiser index.
pub const OTHER_FACTORS: [u16; 128] = [
    4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33,
    34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 60, 62, 64, 66,
    68, 70, 72, 74, 76, 78, 80, 82, 84, 86, 88, 90, 92, 94, 96, 98, 100, 102, 104, 106, 108, 110, 112, 114, 116, 119,
    122, 125, 128, 131, 134, 137, 140, 143, 146, 149, 152, 155, 158, 161, 164, 167, 170, 173, 177, 181, 185, 189, 193,
    197, 201, 205, 209, 213, 217, 221, 225, 229, 234, 239, 245, 249, 254, 259, 264, 269, 274, 279, 284,
];

impl QuantizerHeader {
    /// The factors of a macroblock for a quantiser index: the frame's [`luma`](Self::luma) or that of its segment.
    #[must_use]
    pub fn factors(&self, index: u8) -> MacroblockFactors {
        let at = |delta: Option<i8>| (i16::from(index) + i16::from(delta.unwrap_or(0))).clamp(0, 127) as usize;
        let first = |delta| i16::from(FIRST_FACTORS[at(delta)]);
        let other = |delta| OTHER_FACTORS[at(delta)] as i16;
        MacroblockFactors {
            luma: [first(self.luma_first), other(None)],
            y2: [first(self.y2_first) * 2, (i32::from(other(self.y2)) * 155 / 100).max(8) as i16],
            chroma: [first(self.chroma_first).min(132), other(self.chroma)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_end_where_the_standard_ends_them() {
        let header = QuantizerHeader { luma_first: Some(-15), y2: Some(15), chroma: Some(-15), ..Default::default() };
        let MacroblockFactors { luma, y2, chroma } = header.factors(0);
        assert_eq!((luma, y2, chroma), ([4, 4], [8, 29], [4, 4]));
        let MacroblockFactors { luma, y2, chroma } = header.factors(127);
        assert_eq!((luma, y2, chroma), ([122, 284], [314, 440], [132, 213]));
        assert_eq!(QuantizerHeader::default().factors(0).y2, [8, 8]);
    }
}
