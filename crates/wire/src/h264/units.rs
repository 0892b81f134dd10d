//! NAL units, and the byte stream that contains them (ITU-T H.264 section 7.4.1 and Annex B).

use super::golomb::Codes;

/// The type of a NAL unit: the lower five bits of its first byte (table 7-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitKind {
    /// A slice of a non-IDR picture (1).
    Slice,
    /// A slice of an IDR picture, at which decoding can start (5).
    IdrSlice,
    /// Supplemental enhancement information (6).
    Supplement,
    /// A sequence parameter set (7).
    SequenceParameters,
    /// A picture parameter set (8).
    PictureParameters,
    /// An access unit delimiter (9).
    Delimiter,
    /// Filler data (12).
    Filler,
    /// Any other type, 0 to 31; types from 24 on are RTP payload structures, not NAL units (RFC 6184 section 5.2).
    Other(u8),
}

impl UnitKind {
    /// The kind of unit with this first byte.
    pub const fn of(header: u8) -> UnitKind {
        match header & 0x1f {
            1 => UnitKind::Slice,
            5 => UnitKind::IdrSlice,
            6 => UnitKind::Supplement,
            7 => UnitKind::SequenceParameters,
            8 => UnitKind::PictureParameters,
            9 => UnitKind::Delimiter,
            12 => UnitKind::Filler,
            other => UnitKind::Other(other),
        }
    }
}

/// The NAL units of a byte stream, without start codes and surrounding zeros. Skips empty units and everything before
/// the first start code.
pub fn units(stream: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    let mut rest = start_code(stream).map(|at| &stream[at + 3..]);
    core::iter::from_fn(move || {
        loop {
            let bytes = rest?;
            let end = start_code(bytes);
            rest = end.map(|at| &bytes[at + 3..]);
            let unit = &bytes[..end.unwrap_or(bytes.len())];
            // A unit's last byte is never zero (section 7.4.1): zeros belong to the next start code or are trailing
            // zeros.
            let last = unit.iter().rposition(|byte| *byte != 0);
            if let Some(last) = last {
                return Some(&unit[..=last]);
            }
        }
    })
}

/// The position of the first 00 00 01.
pub fn start_code(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    // The third byte determines how far to skip: only 1 can end a start code, only 0 can precede its end.
    loop {
        match bytes.get(at + 2)? {
            1 if bytes[at] == 0 && bytes[at + 1] == 0 => return Some(at),
            0 => at += 1,
            _ => at += 3,
        }
    }
}

/// Returns true if decoding can start at an access unit: it has a slice of an IDR picture.
pub fn is_keyframe(access_unit: &[u8]) -> bool {
    units(access_unit).any(|unit| UnitKind::of(unit[0]) == UnitKind::IdrSlice)
}

/// The type of a slice (ITU-T H.264 section 7.4.3, table 7-6): 1 and 6 are those of B-frames; `None` if it is cut short.
pub fn slice_type(slice: &[u8]) -> Option<u32> {
    let mut codes = Codes::new(slice.get(1..)?);
    // The number of its first macroblock.
    codes.unsigned()?;
    codes.unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn found(stream: &[u8]) -> Vec<&[u8]> {
        units(stream).collect()
    }

    #[test]
    fn units_stand_between_start_codes_of_three_and_four_bytes() {
        let stream = [0, 0, 0, 1, 0x67, 1, 0, 0, 1, 0x68, 2, 0, 0, 0, 1, 0x65, 0, 3];
        assert_eq!(found(&stream), [&[0x67, 1][..], &[0x68, 2], &[0x65, 0, 3]]);
        assert!(is_keyframe(&stream));
        assert!(!is_keyframe(&stream[..15]) && !is_keyframe(&[0, 0, 1, 0x41, 0x65]));
    }

    #[test]
    fn zeros_after_a_unit_and_bytes_before_the_first_are_of_none() {
        assert_eq!(found(&[9, 9, 0, 0, 1, 0x41, 5, 0, 0, 0, 0, 0, 1, 0x42, 6, 0, 0]), [&[0x41, 5][..], &[0x42, 6]]);
        assert_eq!(found(&[0, 0, 1, 0, 0, 1, 0, 0, 0, 1]), [&[] as &[u8]; 0]);
        assert_eq!(found(&[0x41, 1, 2, 3]), [&[] as &[u8]; 0]);
        assert_eq!(found(&[0, 0]), [&[] as &[u8]; 0]);
    }

    proptest! {
        #[test]
        fn the_first_start_code_is_found(bytes in prop::collection::vec(0u8..3, 0..40)) {
            prop_assert_eq!(start_code(&bytes), bytes.windows(3).position(|window| window == [0, 0, 1]));
        }
    }
}
