//! The RTP packet.

use alloc::vec::Vec;

use super::Extensions;
use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// The fixed fields of every RTP packet (RFC 3550 section 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The marker bit; for video, set in the last packet of a frame.
    pub marker: bool,
    /// Payload type, 0 to 127.
    pub payload_type: u8,
    /// Sequence number within the stream.
    pub sequence: u16,
    /// Media time, in ticks of the payload's clock (90 kHz for video).
    pub timestamp: u32,
    /// SSRC of the stream.
    pub ssrc: u32,
}

/// An RTP packet; payload and extensions are borrowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The fixed fields.
    pub header: Header,
    /// Contributing sources, at most 15.
    pub contributors: Vec<u32>,
    /// The header extension block, if there is one.
    pub extensions: Option<Extensions<'a>>,
    /// The payload, without padding.
    pub payload: &'a [u8],
    /// Bytes of padding after the payload, the count byte included; 0 for none.
    pub padding: u8,
}

impl<'a> Packet<'a> {
    /// A packet with `header` and `payload` and nothing else.
    pub fn new(header: Header, payload: &'a [u8]) -> Packet<'a> {
        Packet { header, contributors: Vec::new(), extensions: None, payload, padding: 0 }
    }

    /// Parses one packet, which extends to the end of `bytes`.
    ///
    /// # Errors
    /// A version other than 2, a truncated field, a malformed extension element, a padding count of 0 or larger than
    /// the remaining bytes.
    pub fn parse(bytes: &'a [u8]) -> Result<Packet<'a>, ParseError> {
        let mut reader = Reader::new(bytes);
        let first = reader.u8("RTP first byte")?;
        let version = u64::from(first >> 6);
        if version != 2 {
            return Err(ParseError::OutOfRange { what: "RTP version", at: 0, found: version, min: 2, max: 2 });
        }
        let second = reader.u8("RTP payload type")?;
        let header = Header {
            marker: second & 0x80 != 0,
            payload_type: second & 0x7f,
            sequence: reader.u16("RTP sequence number")?,
            timestamp: reader.u32("RTP timestamp")?,
            ssrc: reader.u32("RTP SSRC")?,
        };
        let contributors =
            (0..first & 0x0f).map(|_| reader.u32("RTP contributing source")).collect::<Result<Vec<u32>, _>>()?;
        let extensions = if first & 0x10 != 0 { Some(Extensions::parse(&mut reader)?) } else { None };
        let (at, rest) = (reader.at(), reader.rest());
        let padding = if first & 0x20 != 0 { padding_length(rest, at)? } else { 0 };
        let payload = &rest[..rest.len() - usize::from(padding)];
        Ok(Packet { header, contributors, extensions, payload, padding })
    }

    /// Appends the packet to `out`.
    ///
    /// # Errors
    /// A payload type above 127 or more than 15 contributing sources; `out` is then unchanged.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        WriteError::check("RTP payload type", u64::from(self.header.payload_type), 0, 127)?;
        WriteError::check("number of contributing sources", self.contributors.len() as u64, 0, 15)?;
        let flags = u8::from(self.padding > 0) << 5 | u8::from(self.extensions.is_some()) << 4;
        out.reserve(self.size());
        out.push(0x80 | flags | self.contributors.len() as u8);
        out.push(u8::from(self.header.marker) << 7 | self.header.payload_type);
        out.extend_from_slice(&self.header.sequence.to_be_bytes());
        out.extend_from_slice(&self.header.timestamp.to_be_bytes());
        out.extend_from_slice(&self.header.ssrc.to_be_bytes());
        for source in &self.contributors {
            out.extend_from_slice(&source.to_be_bytes());
        }
        if let Some(extensions) = &self.extensions {
            extensions.write(out);
        }
        out.extend_from_slice(self.payload);
        if self.padding > 0 {
            out.resize(out.len() + usize::from(self.padding) - 1, 0);
            out.push(self.padding);
        }
        Ok(())
    }

    /// Size of the packet in bytes when written, without SRTP, UDP and IP overhead.
    pub fn size(&self) -> usize {
        let extensions = self.extensions.map_or(0, |extensions| extensions.size());
        12 + 4 * self.contributors.len() + extensions + self.payload.len() + usize::from(self.padding)
    }
}

/// The padding count, which is the last byte of `rest`; `rest` is at offset `at`.
pub(crate) fn padding_length(rest: &[u8], at: usize) -> Result<u8, ParseError> {
    let Some(&count) = rest.last() else {
        return Err(ParseError::Short { what: "padding count", at, needed: 1, found: 0 });
    };
    if count == 0 || usize::from(count) > rest.len() {
        return Err(ParseError::OutOfRange {
            what: "padding count",
            at: at + rest.len() - 1,
            found: u64::from(count),
            min: 1,
            max: rest.len().min(255) as u64,
        });
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtp::{Extension, ExtensionBuffer};
    use proptest::prelude::*;

    const HEADER: Header = Header { marker: true, payload_type: 96, sequence: 0x0102, timestamp: 0x0304_0506, ssrc: 7 };
    const HEADER_BYTES: [u8; 10] = [0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0, 0, 0, 7];

    fn bytes_of(packet: &Packet<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        packet.write(&mut out).unwrap();
        assert_eq!(out.len(), packet.size());
        out
    }

    #[test]
    fn every_field_has_its_place_in_the_bytes() {
        let buffer = ExtensionBuffer::of(&[Extension { id: 3, data: &[9, 8] }]).unwrap();
        let packet = Packet {
            contributors: [0xa, 0xb].to_vec(),
            extensions: Some(buffer.as_extensions()),
            padding: 3,
            ..Packet::new(HEADER, &[0x55])
        };
        let mut expected = [0xb2, 0xe0].to_vec();
        expected.extend_from_slice(&HEADER_BYTES);
        expected.extend_from_slice(&[0, 0, 0, 0xa, 0, 0, 0, 0xb, 0xbe, 0xde, 0, 1, 0x31, 9, 8, 0, 0x55, 0, 0, 3]);
        assert_eq!(bytes_of(&packet), expected);
        assert_eq!(Packet::parse(&expected), Ok(packet));
    }

    #[test]
    fn padding_alone_is_a_packet_without_payload() {
        let packet = Packet { padding: 224, ..Packet::new(HEADER, &[]) };
        let bytes = bytes_of(&packet);
        assert_eq!((bytes[0], bytes.len(), bytes.last()), (0xa0, 236, Some(&224)));
        assert_eq!(Packet::parse(&bytes), Ok(packet));
    }

    #[test]
    fn a_padding_count_of_0_or_past_the_header_is_refused() {
        let mut bytes = bytes_of(&Packet::new(HEADER, &[1, 2, 0]));
        bytes[0] |= 0x20;
        for count in [0, 4] {
            *bytes.last_mut().unwrap() = count;
            let found = u64::from(count);
            let error = ParseError::OutOfRange { what: "padding count", at: 14, found, min: 1, max: 3 };
            assert_eq!(Packet::parse(&bytes), Err(error));
        }
        assert!(Packet::parse(&bytes[..12]).is_err());
    }

    #[test]
    fn another_version_and_a_cut_header_are_refused() {
        let bytes = bytes_of(&Packet::new(HEADER, &[]));
        for length in 0..12 {
            assert!(Packet::parse(&bytes[..length]).is_err(), "{length} bytes");
        }
        for version in [0, 1, 3] {
            let mut other = bytes.clone();
            other[0] = version << 6;
            let found = u64::from(version);
            let error = ParseError::OutOfRange { what: "RTP version", at: 0, found, min: 2, max: 2 };
            assert_eq!(Packet::parse(&other), Err(error));
        }
    }

    #[test]
    fn what_the_header_has_no_room_for_is_refused() {
        let mut out = [1].to_vec();
        assert!(Packet::new(Header { payload_type: 128, ..HEADER }, &[]).write(&mut out).is_err());
        assert!(Packet { contributors: [0; 16].to_vec(), ..Packet::new(HEADER, &[]) }.write(&mut out).is_err());
        assert_eq!(out, [1]);
    }

    proptest! {
        #[test]
        fn a_packet_survives_being_written_and_read(
            marker: bool, payload_type in 0u8..128, sequence: u16, timestamp: u32, ssrc: u32, padding: u8,
            contributors in prop::collection::vec(any::<u32>(), 0..16),
            elements in prop::option::of(prop::collection::vec((1u8..=255, any::<[u8; 3]>()), 0..5)),
            payload: Vec<u8>,
        ) {
            let buffer = elements.map(|elements| {
                let borrowed: Vec<_> = elements.iter().map(|(id, data)| Extension { id: *id, data }).collect();
                ExtensionBuffer::of(&borrowed).unwrap()
            });
            let packet = Packet {
                header: Header { marker, payload_type, sequence, timestamp, ssrc },
                contributors,
                extensions: buffer.as_ref().map(ExtensionBuffer::as_extensions),
                payload: &payload,
                padding,
            };
            let bytes = bytes_of(&packet);
            prop_assert_eq!(Packet::parse(&bytes), Ok(packet));
        }
    }
}
