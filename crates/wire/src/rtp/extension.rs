//! The header extension block and its elements (RFC 8285).

use alloc::vec::Vec;

use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// The profile of the one-byte form (RFC 8285 section 4.2).
const ONE_BYTE: u16 = 0xbede;
/// The profile of the two-byte form (RFC 8285 section 4.3); its low 4 bits are free for the application.
const TWO_BYTE: u16 = 0x1000;

/// One element of an extension block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extension<'a> {
    /// The negotiated id, 1 to 14 in the one-byte form and 1 to 255 in the two-byte form.
    pub id: u8,
    /// Its data.
    pub data: &'a [u8],
}

/// A header extension block whose elements have been validated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extensions<'a> {
    profile: u16,
    /// The data, in whole 32-bit words.
    data: &'a [u8],
}

impl<'a> Extensions<'a> {
    pub(crate) fn parse(reader: &mut Reader<'a>) -> Result<Extensions<'a>, ParseError> {
        let profile = reader.u16("extension profile")?;
        let words = reader.u16("extension length")?;
        let at = reader.at();
        let data = reader.take("extension block", 4 * usize::from(words))?;
        let mut elements = Reader::placed(data, at);
        while next_element(profile, &mut elements)?.is_some() {}
        Ok(Extensions { profile, data })
    }

    /// The profile field: 0xBEDE and 0x1000 are the forms of RFC 8285, others are opaque here.
    pub fn profile(&self) -> u16 {
        self.profile
    }

    /// The bytes of the block after its header, with padding.
    pub fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The elements in order; none if the profile is not one of RFC 8285.
    pub fn iter(&self) -> impl Iterator<Item = Extension<'a>> + use<'a> {
        self.placed().map(|(_, element)| element)
    }

    /// The elements, each with the offset of its data in the block's data.
    pub(crate) fn placed(&self) -> impl Iterator<Item = (usize, Extension<'a>)> + use<'a> {
        let mut reader = Reader::new(self.data);
        let profile = self.profile;
        core::iter::from_fn(move || {
            let element = next_element(profile, &mut reader).ok().flatten()?;
            Some((reader.at() - element.data.len(), element))
        })
    }

    /// The data of the first element with this id.
    pub fn get(&self, id: u8) -> Option<&'a [u8]> {
        self.iter().find(|element| element.id == id).map(|element| element.data)
    }

    /// Size of the block in bytes, header included.
    pub fn size(&self) -> usize {
        4 + self.data.len()
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.profile.to_be_bytes());
        out.extend_from_slice(&((self.data.len() / 4) as u16).to_be_bytes());
        out.extend_from_slice(self.data);
    }
}

/// The next element, skipping padding; `None` at the end.
fn next_element<'a>(profile: u16, reader: &mut Reader<'a>) -> Result<Option<Extension<'a>>, ParseError> {
    while !reader.is_empty() {
        if profile == ONE_BYTE {
            let head = reader.u8("extension head")?;
            match head >> 4 {
                // One byte of padding.
                0 if head == 0 => continue,
                // Reserved for padding and for later forms: with a length, a receiver stops here and keeps the previous
                // elements (RFC 8285 sections 4.1.2 and 4.2).
                0 | 15 => return Ok(None),
                id => {
                    let data = reader.take("extension element", usize::from(head & 0x0f) + 1)?;
                    return Ok(Some(Extension { id, data }));
                }
            }
        } else if profile & 0xfff0 == TWO_BYTE {
            let id = reader.u8("extension id")?;
            if id == 0 {
                continue;
            }
            let length = reader.u8("extension element length")?;
            let data = reader.take("extension element", usize::from(length))?;
            return Ok(Some(Extension { id, data }));
        } else {
            return Ok(None);
        }
    }
    Ok(None)
}

/// An extension block under construction, reused from packet to packet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExtensionBuffer {
    profile: u16,
    data: Vec<u8>,
}

impl ExtensionBuffer {
    /// A block with these `elements`: in one-byte form if all fit it (ids 1 to 14, 1 to 16 bytes), in two-byte form
    /// otherwise.
    ///
    /// # Errors
    /// An id of 0, an element of more than 255 bytes, or a block of more than 65535 words.
    pub fn of(elements: &[Extension<'_>]) -> Result<ExtensionBuffer, WriteError> {
        let fits = |element: &Extension<'_>| (1..=14).contains(&element.id) && (1..=16).contains(&element.data.len());
        let one_byte = elements.iter().all(fits);
        // Two bytes for each head, and the padding.
        let most = elements.iter().map(|element| element.data.len() + 2).sum::<usize>() + 3;
        let mut data = Vec::with_capacity(most);
        for element in elements {
            WriteError::check("extension id", u64::from(element.id), 1, 255)?;
            WriteError::check("extension element length", element.data.len() as u64, 0, 255)?;
            if one_byte {
                data.push(element.id << 4 | (element.data.len() - 1) as u8);
            } else {
                data.extend_from_slice(&[element.id, element.data.len() as u8]);
            }
            data.extend_from_slice(element.data);
        }
        data.resize(data.len().next_multiple_of(4), 0);
        WriteError::check("extension block length in words", (data.len() / 4) as u64, 0, u64::from(u16::MAX))?;
        Ok(ExtensionBuffer { profile: if one_byte { ONE_BYTE } else { TWO_BYTE }, data })
    }

    /// The block in the form that a packet takes.
    pub fn as_extensions(&self) -> Extensions<'_> {
        Extensions { profile: self.profile, data: &self.data }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(bytes: &[u8]) -> Result<Extensions<'_>, ParseError> {
        Extensions::parse(&mut Reader::new(bytes))
    }

    fn elements(bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
        parse(bytes).unwrap().iter().map(|element| (element.id, element.data.to_vec())).collect()
    }

    #[test]
    fn the_one_byte_example_of_rfc_8285_is_read() {
        // Section 4.2: an element of 1 byte, one of 2 bytes, two bytes of padding, one of 4 bytes.
        let bytes = [0xbe, 0xde, 0, 3, 0x10, 0xaa, 0x21, 0xbb, 0xbc, 0, 0, 0x33, 1, 2, 3, 4];
        assert_eq!(elements(&bytes), [(1, [0xaa].to_vec()), (2, [0xbb, 0xbc].to_vec()), (3, [1, 2, 3, 4].to_vec())]);
        assert_eq!(parse(&bytes).unwrap().get(2), Some(&[0xbb, 0xbc][..]));
        assert_eq!(parse(&bytes).unwrap().get(4), None);
    }

    #[test]
    fn the_two_byte_example_of_rfc_8285_is_read_whatever_the_application_bits() {
        // Section 4.3: an empty element, one of 1 byte, one byte of padding, one of 4 bytes.
        for application in 0..16 {
            let bytes = [0x10, application, 0, 3, 1, 0, 2, 1, 0xaa, 0, 3, 4, 1, 2, 3, 4];
            assert_eq!(elements(&bytes), [(1, Vec::new()), (2, [0xaa].to_vec()), (3, [1, 2, 3, 4].to_vec())]);
        }
    }

    #[test]
    fn a_receiver_stops_at_id_15_and_at_id_0_with_a_length() {
        for stop in [0xf0, 0xff, 0x01, 0x0f] {
            let bytes = [0xbe, 0xde, 0, 2, 0x10, 0xaa, stop, 0x10, 0xbb, 0x10, 0xcc, 0];
            assert_eq!(elements(&bytes), [(1, [0xaa].to_vec())], "stop {stop:#x}");
        }
    }

    #[test]
    fn another_profile_is_kept_and_has_no_elements() {
        let bytes = [0x12, 0x34, 0, 1, 0x10, 0xaa, 0, 0];
        let block = parse(&bytes).unwrap();
        assert_eq!((block.profile(), block.iter().count()), (0x1234, 0));
        let mut out = Vec::new();
        block.write(&mut out);
        assert_eq!(out, bytes);
    }

    #[test]
    fn an_element_past_the_end_of_its_block_is_refused_with_its_place() {
        let error = parse(&[0xbe, 0xde, 0, 1, 0x13, 1, 2, 3]).unwrap_err();
        assert_eq!(error, ParseError::Short { what: "extension element", at: 5, needed: 4, found: 3 });
        assert!(parse(&[0x10, 0, 0, 1, 1, 3, 1, 2]).is_err());
        assert!(parse(&[0xbe, 0xde, 0, 2, 0, 0, 0, 0]).is_err());
    }

    #[test]
    fn elements_choose_the_form_they_need() {
        let one = ExtensionBuffer::of(&[Extension { id: 14, data: &[7; 16] }]).unwrap();
        assert_eq!(one.as_extensions().profile(), 0xbede);
        for (id, length) in [(15, 1), (1, 0), (1, 17)] {
            let two = ExtensionBuffer::of(&[Extension { id, data: &[7; 17][..length] }]).unwrap();
            assert_eq!(two.as_extensions().profile(), 0x1000, "id {id}, {length} bytes");
        }
        assert!(ExtensionBuffer::of(&[Extension { id: 0, data: &[7] }]).is_err());
        assert!(ExtensionBuffer::of(&[Extension { id: 1, data: &[7; 256] }]).is_err());
    }

    proptest! {
        #[test]
        fn a_block_survives_being_written_and_read(
            elements in prop::collection::vec((1u8..=255, prop::collection::vec(any::<u8>(), 0..40)), 0..20),
        ) {
            let borrowed: Vec<Extension<'_>> = elements.iter().map(|(id, data)| Extension { id: *id, data }).collect();
            let buffer = ExtensionBuffer::of(&borrowed).unwrap();
            let mut out = Vec::new();
            buffer.as_extensions().write(&mut out);
            prop_assert_eq!(out.len(), buffer.as_extensions().size());
            let block = parse(&out).unwrap();
            prop_assert_eq!(block, buffer.as_extensions());
            prop_assert_eq!(block.iter().collect::<Vec<_>>(), borrowed);
        }
    }
}
