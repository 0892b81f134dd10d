//! The mask of protected packets in a FlexFEC header.

use alloc::vec::Vec;

use super::LONGEST;
use crate::fec::Mask;
use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// Places in the first part of the mask.
const SHORT: u32 = 15;
/// Places in the first two parts.
const MIDDLE: u32 = SHORT + 31;
/// The highest bit of each part, which marks it as the last one.
const LAST_SHORT: u16 = 1 << 15;
const LAST_MIDDLE: u32 = 1 << 31;
const LAST_LONG: u64 = 1 << 63;

impl Mask {
    /// Packet `first + j` (wrapping) for each bit j of `places`.
    ///
    /// # Errors
    /// No place, or a place [`LONGEST`] or farther from `first`.
    pub fn new(first: u16, places: u128) -> Result<Mask, WriteError> {
        Mask::within(LONGEST, first, places)
    }

    /// Bytes in a header including its sequence number: 4, 8 or 16.
    pub(crate) fn size(&self) -> usize {
        match self.length() {
            length if length <= SHORT => 4,
            length if length <= MIDDLE => 8,
            _ => 16,
        }
    }

    /// Parses sequence number and mask.
    pub(crate) fn parse(reader: &mut Reader<'_>) -> Result<Mask, ParseError> {
        let first = reader.u16("FlexFEC base sequence number")?;
        let at = reader.at();
        let short = reader.u16("FlexFEC mask")?;
        // The highest bit of `bits` stands for place 0.
        let mut bits = u128::from(short & !LAST_SHORT) << (128 - SHORT);
        if short & LAST_SHORT == 0 {
            let middle = reader.u32("FlexFEC mask, second part")?;
            bits |= u128::from(middle & !LAST_MIDDLE) << (128 - MIDDLE);
            if middle & LAST_MIDDLE == 0 {
                let at = reader.at();
                let long = reader.u64("FlexFEC mask, third part")?;
                if long & LAST_LONG == 0 {
                    let what = "flag that ends the third part of a flexfec-03 mask";
                    return Err(ParseError::OutOfRange { what, at, found: 0, min: 1, max: 1 });
                }
                bits |= u128::from(long & !LAST_LONG) << (65 - MIDDLE);
            }
        }
        if bits == 0 {
            let (min, max) = (1, LONGEST.into());
            return Err(ParseError::OutOfRange { what: "packets in a FlexFEC mask", at, found: 0, min, max });
        }
        Ok(Mask { first, places: bits.reverse_bits() })
    }

    /// Appends sequence number and mask, in the fewest parts that hold all places.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let bits = self.places.reverse_bits();
        let short = (bits >> (128 - SHORT)) as u16;
        let middle = (bits >> (128 - MIDDLE)) as u32 & !LAST_MIDDLE;
        let size = self.size();
        out.extend_from_slice(&self.first.to_be_bytes());
        out.extend_from_slice(&(short | if size == 4 { LAST_SHORT } else { 0 }).to_be_bytes());
        if size > 4 {
            out.extend_from_slice(&(middle | if size == 8 { LAST_MIDDLE } else { 0 }).to_be_bytes());
        }
        if size > 8 {
            let long = (bits >> (65 - MIDDLE)) as u64 | LAST_LONG;
            out.extend_from_slice(&long.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(places: u128) -> Vec<u8> {
        let mut out = Vec::new();
        Mask::new(1000, places).unwrap().write(&mut out);
        out
    }

    #[test]
    fn the_first_place_is_the_highest_bit_behind_the_flag() {
        assert_eq!(bytes(0b111), [0x03, 0xe8, 0xf0, 0x00]);
        assert_eq!(bytes(1 << 14), [0x03, 0xe8, 0x80, 0x01]);
        assert_eq!(bytes(1 << 15), [0x03, 0xe8, 0, 0, 0xc0, 0, 0, 0]);
        assert_eq!(bytes(1 << 45), [0x03, 0xe8, 0, 0, 0x80, 0, 0, 1]);
    }

    #[test]
    fn the_third_part_begins_with_a_flag() {
        assert_eq!(bytes(1 << 46)[8..], [0xc0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes(1 << 108)[8..], [0x80, 0, 0, 0, 0, 0, 0, 1]);
        let unflagged = [0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0];
        assert!(Mask::parse(&mut Reader::new(&unflagged)).is_err());
    }

    #[test]
    fn no_packet_and_one_too_far_are_refused() {
        assert!(Mask::new(0, 0).is_err());
        assert!(Mask::new(0, 1 << LONGEST).is_err());
        assert!(Mask::new(0, 1 << (LONGEST - 1)).is_ok());
        assert!(Mask::parse(&mut Reader::new(&[0, 0, 0x80, 0])).is_err());
    }

    proptest! {
        #[test]
        fn a_mask_survives_being_written_and_read(
            first: u16, bits: u128, length in 1u32..=109, rest: Vec<u8>,
        ) {
            let mask = Mask::new(first, bits >> (128 - length) | 1 << (length - 1)).unwrap();
            let mut out = Vec::new();
            mask.write(&mut out);
            prop_assert_eq!(out.len(), mask.size());
            out.extend_from_slice(&rest);
            let mut reader = Reader::new(&out);
            prop_assert_eq!(Mask::parse(&mut reader), Ok(mask));
            prop_assert_eq!(reader.rest(), &rest[..]);
            prop_assert_eq!(mask.sequences().count() as u32, mask.count());
            prop_assert!(mask.sequences().all(|sequence| mask.contains(sequence)));
        }
    }
}
