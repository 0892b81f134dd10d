//! The payload of a FlexFEC packet.

use alloc::vec::Vec;

use super::LONGEST;
use crate::fec::{Fec, Mask, Protected, Xor};
use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// Bytes before the sequence number of the mask.
const BEFORE_MASK: usize = 16;

/// Parses the payload of a FlexFEC packet.
///
/// # Errors
/// A truncated header, another variant of the format (R or F set), a number of protected streams other than one, a mask
/// without packets or without end.
pub fn parse(payload: &[u8]) -> Result<Fec, ParseError> {
    let mut reader = Reader::new(payload);
    let (variant, mut xor) = Xor::parse(&mut reader)?;
    if variant != 0 {
        let found = variant.into();
        return Err(ParseError::OutOfRange { what: "FlexFEC R and F", at: 0, found, min: 0, max: 0 });
    }
    let streams = reader.u8("FlexFEC number of streams")?;
    if streams != 1 {
        let what = "number of streams under a FlexFEC packet";
        return Err(ParseError::OutOfRange { what, at: 8, found: streams.into(), min: 1, max: 1 });
    }
    reader.u24("FlexFEC reserved bytes")?;
    let ssrc = reader.u32("FlexFEC protected SSRC")?;
    let mask = Mask::parse(&mut reader)?;
    xor.rest = reader.rest().to_vec();
    Ok(Fec { ssrc, mask, xor, covers_beginnings: false })
}

/// The payload of an FEC packet over `packets`: plaintext RTP of one stream in ascending order of sequence numbers
/// (with wrap-around).
///
/// # Errors
/// No packet, an invalid one (12 to 65,547 bytes, version 2), one of another stream, one that does not follow the
/// previous, one [`LONGEST`] or farther from the first.
pub fn protect<'a>(packets: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<u8>, WriteError> {
    let Protected { ssrc, mask, xor } = Protected::of(LONGEST, packets)?;
    let mut out = Vec::with_capacity(BEFORE_MASK + mask.size() + xor.rest.len());
    xor.write(&mut out);
    out.extend_from_slice(&[1, 0, 0, 0]);
    out.extend_from_slice(&ssrc.to_be_bytes());
    mask.write(&mut out);
    out.extend_from_slice(&xor.rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fec::testing::example;

    #[test]
    fn the_example_gives_the_bytes_of_the_draft() {
        let payload = protect(example().iter().map(Vec::as_slice)).unwrap();
        let expected = [
            0x00, 0xe0, 0x00, 0x04, 0x00, 0x01, 0x5f, 0x90, 1, 0, 0, 0, 0x11, 0x22, 0x33, 0x44, 0x03, 0xe8, 0xf0, 0x00,
            0x5f, 0x4e, 0xa0, 0x04, 0x05,
        ];
        assert_eq!(payload, expected);
        let fec = parse(&payload).unwrap();
        assert_eq!((fec.ssrc, fec.mask.first(), fec.mask.places()), (0x1122_3344, 1000, 0b111));
    }

    #[test]
    fn what_is_no_set_of_packets_is_refused() {
        let [a, b, c] = example();
        let refused = |packets: &[&[u8]]| protect(packets.iter().copied()).unwrap_err().what;
        assert_eq!(refused(&[]), "length of a mask of protected packets");
        assert_eq!(refused(&[&a, &a]), "distance of a packet under FEC from the first");
        assert_eq!(refused(&[&a, &c, &b]), "distance of a packet under FEC from the first");
        assert_eq!(refused(&[&b, &a]), "distance of a packet under FEC from the first");
        assert_eq!(refused(&[&a[..11]]), "bytes of a packet under FEC");
        let (mut other, mut old) = (b.clone(), b);
        other[11] ^= 1;
        old[0] = 0x40;
        assert_eq!(refused(&[&a, &other]), "stream of a packet under FEC");
        assert_eq!(refused(&[&old]), "RTP version of a packet under FEC");
    }

    #[test]
    fn another_variant_another_number_of_streams_and_a_cut_header_are_refused() {
        let payload = protect(example().iter().map(Vec::as_slice)).unwrap();
        for (at, value) in [(0, 0x80), (0, 0x40), (8, 0), (8, 2)] {
            let mut other = payload.clone();
            other[at] = value;
            let error = parse(&other).unwrap_err();
            assert!(matches!(error, ParseError::OutOfRange { at: place, .. } if place == at), "{error}");
        }
        for length in 0..20 {
            assert!(parse(&payload[..length]).is_err(), "{length} bytes");
        }
    }
}
