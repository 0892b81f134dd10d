//! Open bitstream units, of which an AV1 stream consists (AV1 sections 5.3 and 6.2).

use alloc::vec::Vec;

use super::leb128;
use crate::ParseError;
use crate::reader::Reader;

/// Types of OBUs (`obu_type`) that matter here.
const SEQUENCE_HEADER: u8 = 1;
const TEMPORAL_DELIMITER: u8 = 2;
const FRAME_HEADER: u8 = 3;
const FRAME: u8 = 6;
const TILE_LIST: u8 = 8;

/// Bits of the first byte.
const FORBIDDEN: u8 = 0x80;
const HAS_EXTENSION: u8 = 0x04;
const HAS_SIZE: u8 = 0x02;

/// A temporal delimiter, with which each temporal unit begins (AV1 section 7.5).
pub(super) const DELIMITER: [u8; 2] = [TEMPORAL_DELIMITER << 3 | HAS_SIZE, 0];

/// An OBU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Obu<'a> {
    /// Its first byte.
    head: u8,
    /// Its layers, if it has them.
    extension: Option<u8>,
    payload: &'a [u8],
}

impl<'a> Obu<'a> {
    /// Reads an OBU; one without a size extends to the end.
    ///
    /// # Errors
    /// A truncated one, or one that begins with the forbidden bit.
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Obu<'a>, ParseError> {
        let at = reader.at();
        let head = reader.u8("AV1 OBU header")?;
        if head & FORBIDDEN != 0 {
            return Err(ParseError::OutOfRange { what: "forbidden bit of an AV1 OBU", at, found: 1, min: 0, max: 0 });
        }
        let extension = if head & HAS_EXTENSION != 0 { Some(reader.u8("AV1 OBU extension")?) } else { None };
        let size = match head & HAS_SIZE {
            0 => reader.left(),
            _ => leb128::read(reader, "size of an AV1 OBU")? as usize,
        };
        Ok(Obu { head, extension, payload: reader.take("AV1 OBU", size)? })
    }

    fn kind(&self) -> u8 {
        self.head >> 3 & 0x0f
    }

    /// Returns true if it is sent: receivers ignore temporal delimiters and tile lists (RTP payload format, section 5).
    pub(super) fn is_sent(&self) -> bool {
        !matches!(self.kind(), TEMPORAL_DELIMITER | TILE_LIST)
    }

    /// Appends it with its size, as decoders and files have it.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.push(self.head | HAS_SIZE);
        out.extend(self.extension);
        leb128::write(self.payload.len(), out);
        out.extend_from_slice(self.payload);
    }

    /// It without its size, as packets have it.
    pub(super) fn unsized_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(2 + self.payload.len());
        out.push(self.head & !HAS_SIZE);
        out.extend(self.extension);
        out.extend_from_slice(self.payload);
        out
    }
}

/// Returns true if decoding can begin with a temporal unit: it has a sequence header, and its first frame is a
/// keyframe.
pub fn is_keyframe(unit: &[u8]) -> bool {
    let mut reader = Reader::new(unit);
    // Whether the sequence header, once it was found, says that all frames are keyframes.
    let mut only_key = None;
    while !reader.is_empty() {
        let Ok(obu) = Obu::read(&mut reader) else { return false };
        let first = obu.payload.first().copied();
        match obu.kind() {
            // seq_profile, still_picture, reduced_still_picture_header (AV1 section 5.5.1).
            SEQUENCE_HEADER => only_key = first.map(|first| first & 0x08 != 0),
            // show_existing_frame, frame_type (AV1 section 5.9.2): both are 0 for a keyframe.
            FRAME | FRAME_HEADER => {
                let is_key = first.is_some_and(|first| first & 0xe0 == 0);
                return only_key.is_some_and(|only_key| only_key || is_key);
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_obu_has_its_size_or_extends_to_the_end() {
        // A frame (type 6) of temporal layer 2, then a sequence header without a size.
        let bytes = [0x36, 0x40, 2, 7, 8, 0x08, 9, 10];
        let mut reader = Reader::new(&bytes);
        let frame = Obu::read(&mut reader).unwrap();
        assert_eq!(frame, Obu { head: 0x36, extension: Some(0x40), payload: &[7, 8] });
        assert_eq!(frame.unsized_bytes(), [0x34, 0x40, 7, 8]);
        let sequence = Obu::read(&mut reader).unwrap();
        let mut out = Vec::new();
        frame.write(&mut out);
        sequence.write(&mut out);
        assert_eq!(out, [0x36, 0x40, 2, 7, 8, 0x0a, 2, 9, 10]);
        assert!(reader.is_empty());
    }

    #[test]
    fn what_is_cut_off_or_forbidden_is_no_obu() {
        for bad in [&[][..], &[0x80], &[0x36], &[0x36, 0], &[0x36, 0, 2, 7], &[0x32, 0x80]] {
            assert!(Obu::read(&mut Reader::new(bad)).is_err(), "{bad:x?}");
        }
    }

    #[test]
    fn a_keyframe_has_a_sequence_header_and_a_frame_of_type_0() {
        let sequence = [0x0a, 1, 0x00];
        let frame = |first| [0x32, 1, first];
        for (unit, expected) in [
            ([&DELIMITER[..], &sequence, &frame(0x10)].concat(), true),
            ([&sequence[..], &[0x1a, 1, 0x10]].concat(), true),
            // Inter, intra only, and a frame shown again.
            ([&sequence[..], &frame(0x30)].concat(), false),
            ([&sequence[..], &frame(0x50)].concat(), false),
            ([&sequence[..], &frame(0x80)].concat(), false),
            // Without a sequence header, and without a frame.
            (frame(0x10).to_vec(), false),
            (sequence.to_vec(), false),
            // A still picture has no frame type.
            ([&[0x0a, 1, 0x18][..], &frame(0xff)].concat(), true),
            // What is behind the first frame does not count.
            ([&frame(0x30)[..], &sequence, &frame(0x10)].concat(), false),
            ([&sequence[..], &[0x32, 9, 0x10]].concat(), false),
            ([&sequence[..], &[0x32, 0]].concat(), false),
            (Vec::new(), false),
        ] {
            assert_eq!(is_keyframe(&unit), expected, "{unit:x?}");
        }
    }
}
