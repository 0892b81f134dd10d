//! The payload of a FlexFEC packet.

use alloc::vec::Vec;

use super::Format;
use crate::parity::{Mask, Parity, Protected, Sums};
use crate::reader::Reader;
use crate::rtp::Packet;
use crate::{ParseError, WriteError};

impl Parity {
    /// Reads what a packet of a stream of FlexFEC carries.
    ///
    /// # Errors
    /// A header cut short, another variant of the format (R or F set), other than one protected stream, a mask without
    /// packets or without end.
    pub fn parse(format: Format, packet: &Packet<'_>) -> Result<Parity, ParseError> {
        let mut reader = Reader::new(packet.payload);
        let (variant, mut sums) = Sums::parse(&mut reader)?;
        if variant != 0 {
            let found = variant.into();
            return Err(ParseError::OutOfRange { what: "FlexFEC R and F", at: 0, found, least: 0, most: 0 });
        }
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
        sums.rest = reader.rest().to_vec();
        Ok(Parity { ssrc, mask, sums, covers_beginnings: false })
    }
}

/// The payload of a parity packet over `packets`, plaintext RTP of one stream in ascending order of sequence numbers
/// (those that wrap included). In RFC 8627 their stream must also be the packet's only contributing source.
///
/// # Errors
/// No packet, one that is none (12 to 65,547 bytes, version 2), one of another stream, one not after the last, one too
/// far from the first ([`Format::longest`]).
pub fn protect<'a>(format: Format, packets: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<u8>, WriteError> {
    let Protected { ssrc, mask, sums } = Protected::of(format.longest(), packets, |_| Ok(()))?;
    let mut out = Vec::with_capacity(format.header(&mask).get() as usize + sums.rest.len());
    sums.write(&mut out);
    if format == Format::Draft03 {
        out.extend_from_slice(&[1, 0, 0, 0]);
        out.extend_from_slice(&ssrc.to_be_bytes());
    }
    mask.write(format, &mut out);
    out.extend_from_slice(&sums.rest);
    Ok(out)
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::rtp;

    /// What a packet of parity over the example's stream says.
    pub(crate) fn read(format: Format, payload: &[u8]) -> Result<Parity, ParseError> {
        let header = rtp::Header { marker: false, payload_type: 118, sequence: 0, timestamp: 0, ssrc: 9 };
        let contributors = if format == Format::Rfc8627 { [0x1122_3344].to_vec() } else { Vec::new() };
        Parity::parse(format, &Packet { contributors, ..Packet::new(header, payload) })
    }
}

#[cfg(test)]
mod tests {
    use super::testing::read;
    use super::*;
    use crate::parity::testing::example;
    use crate::rtp;

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
        assert_eq!(refused(&[]), "length of a mask of protected packets");
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
