//! The payload of a parity packet.

use alloc::vec::Vec;

use super::sums::{HEADER, Sums};
use super::{Format, Mask};
use crate::reader::Reader;
use crate::rtp::Packet;
use crate::{ParseError, WriteError};

/// A parity packet as it was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parity {
    /// The stream whose packets it protects.
    pub ssrc: u32,
    /// Which of its packets.
    pub mask: Mask,
    pub(super) sums: Sums,
}

impl Parity {
    /// Reads what a packet of the parity stream carries.
    ///
    /// # Errors
    /// A header cut short, another variant of the format (R or F set), other than one protected stream, a mask without packets or
    /// without end.
    pub fn parse(format: Format, packet: &Packet<'_>) -> Result<Parity, ParseError> {
        let mut reader = Reader::new(packet.payload);
        let first = reader.u8("FlexFEC first byte")?;
        let variant = u64::from(first >> 6);
        if variant != 0 {
            return Err(ParseError::OutOfRange { what: "FlexFEC R and F", at: 0, found: variant, least: 0, most: 0 });
        }
        let kind = reader.u8("FlexFEC payload type recovery")?;
        let length = reader.u16("FlexFEC length recovery")?;
        let timestamp = reader.u32("FlexFEC timestamp recovery")?;
        let one_stream = |at, found: usize| match found {
            1 => Ok(()),
            _ => {
                let what = "number of streams under a FlexFEC packet";
                Err(ParseError::OutOfRange { what, at, found: found as u64, least: 1, most: 1 })
            }
        };
        let ssrc = match format {
            Format::Draft03 => {
                one_stream(8, reader.u8("FlexFEC number of streams")?.into())?;
                reader.u24("FlexFEC reserved bytes")?;
                reader.u32("FlexFEC protected SSRC")?
            }
            Format::Rfc8627 => {
                one_stream(0, packet.contributors.len())?;
                packet.contributors[0]
            }
        };
        let mask = Mask::parse(format, &mut reader)?;
        let sums = Sums { flags: first, kind, length, timestamp, rest: reader.rest().to_vec() };
        Ok(Parity { ssrc, mask, sums })
    }
}

/// The payload of a parity packet over `packets`, plaintext RTP of one stream in ascending order of sequence numbers (those that
/// wrap included). In RFC 8627 their stream must also be the packet's only contributing source.
///
/// # Errors
/// No packet, one that is none (12 to 65,547 bytes, version 2), one of another stream, one not after the last, one too far
/// from the first ([`Format::longest`]).
pub fn protect<'a>(format: Format, packets: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<u8>, WriteError> {
    let mut sums = Sums::default();
    let mut start: Option<(u16, u32)> = None;
    let mut places = 0u128;
    for packet in packets {
        let most = (HEADER + usize::from(u16::MAX)) as u64;
        WriteError::check("bytes of a packet under parity", packet.len() as u64, HEADER as u64, most)?;
        WriteError::check("RTP version of a packet under parity", u64::from(packet[0] >> 6), 2, 2)?;
        let sequence = u16::from_be_bytes([packet[2], packet[3]]);
        let ssrc = u32::from_be_bytes([packet[8], packet[9], packet[10], packet[11]]);
        let (first, stream) = *start.get_or_insert((sequence, ssrc));
        WriteError::check("stream of a packet under parity", ssrc.into(), stream.into(), stream.into())?;
        let place = u64::from(sequence.wrapping_sub(first));
        let next = u64::from(u128::BITS - places.leading_zeros());
        let what = "distance of a packet under parity from the first";
        WriteError::check(what, place, next, u64::from(format.longest()) - 1)?;
        places |= 1 << place;
        sums.add(packet);
    }
    let (first, ssrc) = start.unwrap_or_default();
    let mask = Mask::new(format, first, places)?;

    let mut out = Vec::with_capacity(format.before_mask() + mask.size() + sums.rest.len());
    out.extend_from_slice(&[sums.flags, sums.kind]);
    out.extend_from_slice(&sums.length.to_be_bytes());
    out.extend_from_slice(&sums.timestamp.to_be_bytes());
    if format == Format::Draft03 {
        out.extend_from_slice(&[1, 0, 0, 0]);
        out.extend_from_slice(&ssrc.to_be_bytes());
    }
    mask.write(format, &mut out);
    out.extend_from_slice(&sums.rest);
    Ok(out)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::rtp;
    use alloc::vec;

    /// The three packets of the example (fec.md section 5).
    pub(in crate::flexfec) fn example() -> [Vec<u8>; 3] {
        let packet = |sequence, marker, payload: &[u8]| {
            let header = rtp::Header { marker, payload_type: 96, sequence, timestamp: 90_000, ssrc: 0x1122_3344 };
            let mut out = Vec::new();
            Packet::new(header, payload).write(&mut out).unwrap();
            out
        };
        [
            packet(1000, false, &[1, 2, 3, 4, 5]),
            packet(1001, false, &[0xa1, 0xa2, 0xa3]),
            packet(1002, true, &[0xff, 0xee]),
        ]
    }

    pub(in crate::flexfec) fn read(format: Format, payload: &[u8]) -> Result<Parity, ParseError> {
        let header = rtp::Header { marker: false, payload_type: 118, sequence: 0, timestamp: 0, ssrc: 9 };
        let contributors = if format == Format::Rfc8627 { vec![0x1122_3344] } else { Vec::new() };
        Parity::parse(format, &Packet { contributors, ..Packet::new(header, payload) })
    }

    #[test]
    fn the_example_gives_the_bytes_of_the_draft() {
        let payload = protect(Format::Draft03, example().iter().map(Vec::as_slice)).unwrap();
        let expected = [
            0x00, 0xe0, 0x00, 0x04, 0x00, 0x01, 0x5f, 0x90, 1, 0, 0, 0, 0x11, 0x22, 0x33, 0x44, 0x03, 0xe8, 0xf0, 0x00,
            0x5f, 0x4e, 0xa0, 0x04, 0x05,
        ];
        assert_eq!(payload, expected);
        let parity = read(Format::Draft03, &payload).unwrap();
        assert_eq!((parity.ssrc, parity.mask.first(), parity.mask.places()), (0x1122_3344, 1000, 0b111));
        assert_eq!(Format::Draft03.header(&parity.mask).get(), 20);
    }

    #[test]
    fn the_example_gives_the_bytes_of_the_rfc() {
        let payload = protect(Format::Rfc8627, example().iter().map(Vec::as_slice)).unwrap();
        let expected =
            [0x00, 0xe0, 0x00, 0x04, 0x00, 0x01, 0x5f, 0x90, 0x03, 0xe8, 0xf0, 0x00, 0x5f, 0x4e, 0xa0, 0x04, 0x05];
        assert_eq!(payload, expected);
        let parity = read(Format::Rfc8627, &payload).unwrap();
        assert_eq!((parity.ssrc, parity.mask.first(), parity.mask.places()), (0x1122_3344, 1000, 0b111));
        let header = rtp::Header { marker: false, payload_type: 118, sequence: 0, timestamp: 0, ssrc: 9 };
        assert!(Parity::parse(Format::Rfc8627, &Packet::new(header, &payload)).is_err(), "no contributing source");
    }

    #[test]
    fn what_is_no_set_of_packets_is_refused() {
        let [a, b, c] = example();
        let refused = |packets: &[&[u8]]| protect(Format::Draft03, packets.iter().copied()).unwrap_err().what;
        assert_eq!(refused(&[]), "length of a FlexFEC mask");
        assert_eq!(refused(&[&a, &a]), "distance of a packet under parity from the first");
        assert_eq!(refused(&[&a, &c, &b]), "distance of a packet under parity from the first");
        assert_eq!(refused(&[&b, &a]), "distance of a packet under parity from the first");
        assert_eq!(refused(&[&a[..11]]), "bytes of a packet under parity");
        let (mut other, mut old) = (b.clone(), b);
        other[11] ^= 1;
        old[0] = 0x40;
        assert_eq!(refused(&[&a, &other]), "stream of a packet under parity");
        assert_eq!(refused(&[&old]), "RTP version of a packet under parity");
    }

    #[test]
    fn another_variant_another_number_of_streams_and_a_cut_header_are_refused() {
        let payload = protect(Format::Draft03, example().iter().map(Vec::as_slice)).unwrap();
        for (at, value) in [(0, 0x80), (0, 0x40), (8, 0), (8, 2)] {
            let mut other = payload.clone();
            other[at] = value;
            let error = read(Format::Draft03, &other).unwrap_err();
            assert!(matches!(error, ParseError::OutOfRange { at: place, .. } if place == at), "{error}");
        }
        for length in 0..20 {
            assert!(read(Format::Draft03, &payload[..length]).is_err(), "{length} bytes");
        }
    }
}
