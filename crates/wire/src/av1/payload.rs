//! The payload of one packet (RTP payload format, sections 4.4 and 4.5): the aggregation header, then OBUs and parts
//! of OBUs.

use alloc::vec::Vec;

use super::leb128;
use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// Bits of the aggregation header.
const CONTINUES: u8 = 0x80;
const GOES_ON: u8 = 0x40;
const NEW_SEQUENCE: u8 = 0x08;

/// Max number of elements that the aggregation header counts (W); the last of them has no length before it.
const COUNTED: usize = 3;

/// The payload of one packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload<'a> {
    /// Z: the first element goes on with an OBU of the packet before.
    pub continues: bool,
    /// Y: the OBU of the last element goes on in the next packet.
    pub goes_on: bool,
    /// N: a coded video sequence begins with this packet, so with a keyframe.
    pub new_sequence: bool,
    /// OBUs, of which the first and the last may be parts; at least one, and none is empty.
    pub elements: Vec<&'a [u8]>,
}

impl<'a> Payload<'a> {
    /// Bytes before the elements.
    pub(super) const HEAD: usize = 1;

    /// Parses a payload.
    ///
    /// # Errors
    /// A truncated field; no element, or an empty one; a new sequence that begins in the middle of an OBU.
    pub fn parse(payload: &'a [u8]) -> Result<Payload<'a>, ParseError> {
        let mut reader = Reader::new(payload);
        let head = reader.u8("AV1 aggregation header")?;
        let (continues, new_sequence) = (head & CONTINUES != 0, head & NEW_SEQUENCE != 0);
        if continues && new_sequence {
            let what = "N of an AV1 payload that continues an OBU";
            return Err(ParseError::OutOfRange { what, at: 0, found: 1, min: 0, max: 0 });
        }
        let mut elements = Vec::new();
        match head >> 4 & 3 {
            0 => {
                while elements.is_empty() || !reader.is_empty() {
                    elements.push(element(&mut reader)?);
                }
            }
            count => {
                for _ in 1..count {
                    elements.push(element(&mut reader)?);
                }
                let rest = reader.left().max(1);
                elements.push(reader.take("last AV1 OBU element", rest)?);
            }
        }
        Ok(Payload { continues, goes_on: head & GOES_ON != 0, new_sequence, elements })
    }

    /// Appends the payload to `out`; up to three elements are counted, more have their lengths.
    ///
    /// # Errors
    /// No element, or an empty one; a new sequence that begins in the middle of an OBU; `out` is then unchanged.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let count = self.elements.len();
        WriteError::check("elements of an AV1 payload", count as u64, 1, u64::MAX)?;
        for element in &self.elements {
            WriteError::check("bytes of an AV1 OBU element", element.len() as u64, 1, u32::MAX.into())?;
        }
        let most = u64::from(!self.continues);
        WriteError::check("N of an AV1 payload", self.new_sequence.into(), 0, most)?;
        let bit = |is: bool, bit: u8| if is { bit } else { 0 };
        let counted = if count <= COUNTED { count } else { 0 };
        let (continues, goes_on) = (bit(self.continues, CONTINUES), bit(self.goes_on, GOES_ON));
        out.push(continues | goes_on | (counted as u8) << 4 | bit(self.new_sequence, NEW_SEQUENCE));
        for (place, element) in (1..).zip(&self.elements) {
            if place != counted {
                leb128::write(element.len(), out);
            }
            out.extend_from_slice(element);
        }
        Ok(())
    }

    /// Length of the payload in bytes.
    pub fn size(&self) -> usize {
        let lengths = if self.elements.len() <= COUNTED { self.elements.len() - 1 } else { self.elements.len() };
        let length = |element: &&[u8]| leb128::size(element.len());
        let elements: usize = self.elements.iter().map(|element| element.len()).sum();
        Self::HEAD + elements + self.elements[..lengths].iter().map(length).sum::<usize>()
    }
}

/// An element with its length before it.
fn element<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], ParseError> {
    let (at, what) = (reader.at(), "length of an AV1 OBU element");
    match leb128::read(reader, what)? {
        0 => Err(ParseError::OutOfRange { what, at, found: 0, min: 1, max: u32::MAX.into() }),
        length => reader.take("AV1 OBU element", length as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(payload: &[u8]) -> (bool, bool, bool, Vec<&[u8]>) {
        let Payload { continues, goes_on, new_sequence, elements } = Payload::parse(payload).unwrap();
        (continues, goes_on, new_sequence, elements)
    }

    #[test]
    fn two_elements_of_303_bytes_are_200_and_100_as_in_the_format() {
        // Its section 4.5: 1 byte of header, 2 of length, 200, and the other 100 without a length.
        let payload = [&[0x20, 0xc8, 0x01][..], &[7; 200], &[8; 100]].concat();
        assert_eq!(payload.len(), 303);
        assert_eq!(parsed(&payload), (false, false, false, [&[7; 200][..], &[8; 100]].to_vec()));
    }

    #[test]
    fn elements_are_counted_or_have_lengths() {
        assert_eq!(parsed(&[0x18, 7, 8]), (false, false, true, [&[7, 8][..]].to_vec()));
        assert_eq!(parsed(&[0xf0, 1, 7, 2, 8, 8, 9]), (true, true, false, [&[7][..], &[8, 8], &[9]].to_vec()));
        let all = [&[7][..], &[8, 8], &[9], &[10]].to_vec();
        assert_eq!(parsed(&[0x40, 1, 7, 2, 8, 8, 1, 9, 1, 10]), (false, true, false, all));
        // The three lowest bits are reserved, and ignored.
        assert_eq!(parsed(&[0x17, 7]), (false, false, false, [&[7][..]].to_vec()));
    }

    #[test]
    fn what_is_cut_off_empty_or_contradicts_itself_is_refused() {
        for bad in [
            &[][..],
            // No element, with any count.
            &[0x00],
            &[0x10],
            &[0x20, 1, 7],
            &[0x30, 1, 7, 1, 8],
            // Empty ones.
            &[0x00, 0],
            &[0x20, 0, 7],
            // Lengths beyond the end, without an end, and of more than 32 bits.
            &[0x00, 3, 7, 7],
            &[0x20, 0xff],
            &[0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            &[0x00, 0x80, 0x80, 0x80, 0x80, 0x10, 7],
            // Z and N.
            &[0x98, 7],
        ] {
            assert!(Payload::parse(bad).is_err(), "{bad:x?}");
        }
    }

    #[test]
    fn what_there_is_no_room_for_is_refused() {
        let whole = Payload { continues: false, goes_on: false, new_sequence: true, elements: [&[7][..]].to_vec() };
        for bad in [
            Payload { elements: Vec::new(), ..whole.clone() },
            Payload { elements: [&[][..]].to_vec(), ..whole.clone() },
            Payload { continues: true, ..whole },
        ] {
            let mut out = Vec::new();
            assert!(bad.write(&mut out).is_err() && out.is_empty(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            elements in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..300), 1..6), flags in 0u8..6,
        ) {
            let elements: Vec<_> = elements.iter().map(Vec::as_slice).collect();
            let (continues, new_sequence) = (flags & 6 == 2, flags & 6 == 4);
            let payload = Payload { continues, goes_on: flags & 1 == 1, new_sequence, elements };
            let mut out = Vec::new();
            payload.write(&mut out).unwrap();
            prop_assert_eq!(out.len(), payload.size());
            prop_assert_eq!(Payload::parse(&out), Ok(payload));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(payload) = Payload::parse(&bytes) {
                let mut out = Vec::new();
                payload.write(&mut out).unwrap();
                prop_assert_eq!(Payload::parse(&out), Ok(payload));
            }
        }
    }
}
