//! Bytes sent before a packet.

use thalweg_units::Bytes;

use super::wrong_length;
use crate::ParseError;

/// H: the bytes sent before this packet, itself not counted, in IP packet sizes, of packets that carry this element:
/// the low 32 bits (specs/rebera.md 3). A receiver that sums up the bytes it received knows from the next packet how
/// many were lost, without counting packets still in flight as lost.
///
/// A [`BytesUnwrapper`](crate::unwrap::BytesUnwrapper) extends it from a sender's first packet on, as long as
/// consecutive received packets are less than 2 GiB apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BytesBefore(u32);

impl BytesBefore {
    /// Size of the element in bytes.
    pub const SIZE: usize = 4;

    /// The element for this many bytes.
    pub fn of(before: Bytes) -> BytesBefore {
        BytesBefore(before.get() as u32)
    }

    /// The low 32 bits of the bytes.
    pub fn low(self) -> u32 {
        self.0
    }

    /// Parses the 4 bytes.
    ///
    /// # Errors
    /// Any other length.
    pub fn parse(data: &[u8]) -> Result<BytesBefore, ParseError> {
        let bytes = data.try_into().map_err(|_| wrong_length("length of bytes before", data, 4, 4))?;
        Ok(BytesBefore(u32::from_be_bytes(bytes)))
    }

    /// Serialises the element.
    pub fn to_bytes(self) -> [u8; BytesBefore::SIZE] {
        self.0.to_be_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unwrap::BytesUnwrapper;
    use proptest::prelude::*;

    #[test]
    fn the_low_32_bits_are_written_and_followed_through_their_wrap() {
        assert_eq!(BytesBefore::of(Bytes::new(0x0102_0304)).to_bytes(), [1, 2, 3, 4]);
        let mut unwrapper = BytesUnwrapper::after(0);
        for before in [0, 1_200, 1 << 31, (1 << 32) - 1, (1 << 32) + 7, 3 << 31] {
            let said = BytesBefore::parse(&BytesBefore::of(Bytes::new(before)).to_bytes()).unwrap();
            assert_eq!(unwrapper.unwrap(said.low()), before);
        }
    }

    #[test]
    fn any_other_length_is_refused_with_the_right_one() {
        for length in (0..=255).filter(|length| *length != 4) {
            let error = BytesBefore::parse(&[0; 255][..length]).unwrap_err();
            let found = length as u64;
            let expected = ParseError::OutOfRange { what: "length of bytes before", at: 0, found, min: 4, max: 4 };
            assert_eq!(error, expected);
        }
    }

    proptest! {
        #[test]
        fn every_4_bytes_are_a_count(bytes: [u8; 4]) {
            prop_assert_eq!(BytesBefore::parse(&bytes).unwrap().to_bytes(), bytes);
        }
    }
}
