//! Numbers of variable length (AV1 section 4.10.5): seven bits a byte, the lowest first, and a bit that says that more
//! bytes follow.

use alloc::vec::Vec;

use crate::ParseError;
use crate::reader::Reader;

/// Max length of a number in bytes, however many of them are zero.
const LONGEST: u64 = 8;

/// Reads a number, of up to 32 bits.
///
/// # Errors
/// When it does not end after eight bytes, or has more than 32 bits.
pub(super) fn read(reader: &mut Reader<'_>, what: &'static str) -> Result<u32, ParseError> {
    let at = reader.at();
    let mut value = 0;
    for place in 0..LONGEST {
        let byte = reader.u8(what)?;
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            let range = |_| ParseError::OutOfRange { what, at, found: value, min: 0, max: u32::MAX.into() };
            return u32::try_from(value).map_err(range);
        }
    }
    let what = "length of an AV1 leb128 number in bytes";
    Err(ParseError::OutOfRange { what, at, found: LONGEST + 1, min: 1, max: LONGEST })
}

/// Appends a number in as few bytes as possible.
pub(super) fn write(value: usize, out: &mut Vec<u8>) {
    let mut rest = value;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Number of bytes that [`write`] appends.
pub(super) fn size(value: usize) -> usize {
    (value.checked_ilog2().unwrap_or(0) / 7 + 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(bytes: &[u8]) -> Result<u32, ParseError> {
        read(&mut Reader::new(bytes), "number")
    }

    #[test]
    fn seven_bits_a_byte_the_lowest_first() {
        for (value, bytes) in [
            (0, &[0][..]),
            (1, &[1]),
            (127, &[0x7f]),
            (128, &[0x80, 0x01]),
            // 300 is 10 0101100 in groups of seven bits.
            (300, &[0xac, 0x02]),
            (16_383, &[0xff, 0x7f]),
            (16_384, &[0x80, 0x80, 0x01]),
            (u32::MAX, &[0xff, 0xff, 0xff, 0xff, 0x0f]),
        ] {
            let mut out = Vec::new();
            write(value as usize, &mut out);
            assert_eq!((&out[..], size(value as usize)), (bytes, bytes.len()), "{value}");
            assert_eq!(number(bytes), Ok(value));
        }
    }

    #[test]
    fn a_number_may_be_longer_than_it_need_be_up_to_eight_bytes() {
        assert_eq!(number(&[0x85, 0x00]), Ok(5));
        assert_eq!(number(&[0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00]), Ok(5));
        for bad in [
            &[][..],
            &[0x80],
            &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00],
            &[0xff; 12],
            &[0x80, 0x80, 0x80, 0x80, 0x10],
        ] {
            assert!(number(bad).is_err(), "{bad:x?}");
        }
    }
}
