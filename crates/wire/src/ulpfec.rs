//! ULPFEC (RFC 5109): FEC in the media's own stream, each packet the XOR of a set of media packets.
//!
//! It is carried in RED ([`red`](crate::red)), which browsers use when nothing better was negotiated. Only the first of
//! its protection levels is written, over whole packets, as in libwebrtc (`ulpfec_header_reader_writer.cc`); further
//! levels are ignored. A first level that covers only the beginnings of packets is accepted: it recovers packets that
//! are no longer than that.
//!
//! Protection, recovery and the extensions that must be blanked first are as in [`flexfec`](crate::flexfec). Protected
//! media is in the form it would have without RED: payload type and payload are those inside.

use alloc::vec::Vec;

pub use crate::fec::{Corrupt, Fec, Mask, Recovery};
use crate::fec::{Protected, Xor};
use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// Max number of sequence numbers that a mask spans.
pub const LONGEST: u16 = 48;
/// Number of sequence numbers that a short mask spans.
const SHORT: u32 = 16;
/// E, which is not set in any version of the format.
const EXTENSION: u8 = 0x80;
/// L: the mask is a long one.
const LONG: u8 = 0x40;

/// Parses the payload of an FEC packet received on stream `ssrc`, without RED.
///
/// # Errors
/// A truncated header, a future version of it (E set), a mask without packets, fewer bytes of XOR than the header
/// declares.
pub fn parse(ssrc: u32, payload: &[u8]) -> Result<Fec, ParseError> {
    let mut reader = Reader::new(payload);
    let first = reader.u8("ULPFEC first byte")?;
    if first & EXTENSION != 0 {
        return Err(ParseError::OutOfRange { what: "ULPFEC extension flag", at: 0, found: 1, min: 0, max: 0 });
    }
    let kind = reader.u8("ULPFEC payload type recovery")?;
    let base = reader.u16("ULPFEC base sequence number")?;
    let timestamp = reader.u32("ULPFEC timestamp recovery")?;
    let length = reader.u16("ULPFEC length recovery")?;
    let protected = usize::from(reader.u16("ULPFEC protection length")?);
    let at = reader.at();
    // The highest bit is place 0.
    let mut bits = u64::from(reader.u16("ULPFEC mask")?) << 48;
    if first & LONG != 0 {
        bits |= u64::from(reader.u32("ULPFEC mask, second part")?) << 16;
    }
    if bits == 0 {
        let max = LONGEST.into();
        return Err(ParseError::OutOfRange { what: "packets in a ULPFEC mask", at, found: 0, min: 1, max });
    }
    let mask = Mask { first: base, places: bits.reverse_bits().into() };
    let rest = reader.take("what ULPFEC recovers from", protected)?.to_vec();
    let xor = Xor { flags: first & 0x3f, kind, length, timestamp, rest };
    Ok(Fec { ssrc, mask, xor, covers_beginnings: true })
}

/// The payload of an FEC packet over `packets`: plaintext RTP of one stream in ascending order of sequence numbers
/// (with wrap-around), to be sent on the same stream.
///
/// # Errors
/// No packet, an invalid one (12 to 65,547 bytes, version 2), one of another stream, one that does not follow the
/// previous, one too far from the first ([`LONGEST`]).
pub fn protect<'a>(packets: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<u8>, WriteError> {
    let Protected { mask, xor, .. } = Protected::of(LONGEST, packets)?;
    let is_long = mask.length() > SHORT;
    let bits = (mask.places as u64).reverse_bits();
    let mut out = Vec::with_capacity(header(&mask) + xor.rest.len());
    out.extend_from_slice(&[xor.flags | if is_long { LONG } else { 0 }, xor.kind]);
    out.extend_from_slice(&mask.first.to_be_bytes());
    out.extend_from_slice(&xor.timestamp.to_be_bytes());
    out.extend_from_slice(&xor.length.to_be_bytes());
    // The length of the longest packet; at most 16 bits.
    out.extend_from_slice(&(xor.rest.len() as u16).to_be_bytes());
    out.extend_from_slice(&bits.to_be_bytes()[..if is_long { 6 } else { 2 }]);
    out.extend_from_slice(&xor.rest);
    Ok(out)
}

/// Bytes before the XOR: 14 or, with a long mask, 18.
fn header(mask: &Mask) -> usize {
    if mask.length() > SHORT { 18 } else { 14 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fec::testing::example;
    use crate::rtp::{Header, Packet};
    use proptest::prelude::*;

    const MEDIA: u32 = 0x1122_3344;

    #[test]
    fn the_example_gives_the_bytes_of_the_rfc() {
        let payload = protect(example().iter().map(Vec::as_slice)).unwrap();
        let expected = [
            0x00, 0xe0, 0x03, 0xe8, 0x00, 0x01, 0x5f, 0x90, 0x00, 0x04, 0x00, 0x05, 0xe0, 0x00, 0x5f, 0x4e, 0xa0, 0x04,
            0x05,
        ];
        assert_eq!(payload, expected);
        let fec = parse(MEDIA, &payload).unwrap();
        assert_eq!((fec.ssrc, fec.mask.first(), fec.mask.places()), (MEDIA, 1000, 0b111));
    }

    #[test]
    fn a_packet_more_than_fifteen_behind_the_first_takes_the_long_mask() {
        let [first, ..] = example();
        let at = |sequence: u16| {
            let mut packet = first.clone();
            packet[2..4].copy_from_slice(&sequence.to_be_bytes());
            packet
        };
        for (last, length, mask) in [
            (1015, 14, &[0x80, 0x01][..]),
            (1016, 18, &[0x80, 0, 0x80, 0, 0, 0]),
            (1047, 18, &[0x80, 0, 0, 0, 0, 0x01]),
        ] {
            let payload = protect([&at(1000)[..], &at(last)]).unwrap();
            assert_eq!((payload.len() - 5, payload[0] & LONG != 0, &payload[12..length]), (length, length == 18, mask));
            assert_eq!(parse(MEDIA, &payload).unwrap().mask.sequences().collect::<Vec<_>>(), [1000, last]);
        }
        assert!(protect([&at(1000)[..], &at(1048)]).is_err());
    }

    #[test]
    fn each_packet_of_the_example_comes_back_from_the_others() {
        let packets = example();
        let fec = parse(MEDIA, &protect(packets.iter().map(Vec::as_slice)).unwrap()).unwrap();
        for lost in 1000..1003u16 {
            let held = |sequence: u16| (sequence != lost).then(|| packets[usize::from(sequence - 1000)].as_slice());
            assert_eq!(fec.recover(held), Ok(Recovery::Packet(packets[usize::from(lost - 1000)].clone())));
        }
    }

    #[test]
    fn a_level_over_beginnings_recovers_what_is_no_longer_and_levels_behind_it_are_passed_over() {
        let packets = example();
        let mut payload = protect(packets.iter().map(Vec::as_slice)).unwrap();
        // Protects three bytes, followed by a second level.
        payload[11] = 3;
        payload.extend_from_slice(&[0, 2, 0x80, 0, 9, 9]);
        let fec = parse(MEDIA, &payload).unwrap();
        let without = |lost: u16| move |sequence: u16| (sequence != lost).then_some(usize::from(sequence - 1000));
        let recover = |lost| fec.recover(|sequence| without(lost)(sequence).map(|place| packets[place].as_slice()));
        assert_eq!(recover(1001), Ok(Recovery::Packet(packets[1].clone())));
        assert_eq!(recover(1002), Ok(Recovery::Packet(packets[2].clone())));
        assert_eq!(recover(1000), Err(Corrupt::Length { found: 5, max: 3 }));
    }

    #[test]
    fn a_later_version_no_packets_and_a_cut_packet_are_refused() {
        let payload = protect(example().iter().map(Vec::as_slice)).unwrap();
        let mut other = payload.clone();
        other[0] |= EXTENSION;
        assert!(matches!(parse(MEDIA, &other), Err(ParseError::OutOfRange { at: 0, .. })));
        let mut none = payload.clone();
        none[12..14].fill(0);
        assert!(matches!(parse(MEDIA, &none), Err(ParseError::OutOfRange { at: 12, .. })));
        for length in 0..payload.len() {
            assert!(parse(MEDIA, &payload[..length]).is_err(), "{length} bytes");
        }
    }

    proptest! {
        #[test]
        fn any_packet_of_any_set_comes_back_from_the_others(
            first: u16, timestamp: u32, ssrc: u32,
            places in prop::collection::btree_set(0u16..48, 1..30),
            payloads in prop::collection::vec((any::<bool>(), 0u8..128, prop::collection::vec(any::<u8>(), 0..60)), 30),
            lost in any::<prop::sample::Index>(),
        ) {
            let lowest = *places.first().unwrap();
            let packets: Vec<(u16, Vec<u8>)> = places
                .iter()
                .zip(&payloads)
                .map(|(place, (marker, payload_type, payload))| {
                    let sequence = first.wrapping_add(place - lowest);
                    let header = Header { marker: *marker, payload_type: *payload_type, sequence, timestamp, ssrc };
                    let mut out = Vec::new();
                    Packet::new(header, payload).write(&mut out).unwrap();
                    (sequence, out)
                })
                .collect();
            let payload = protect(packets.iter().map(|(_, packet)| packet.as_slice())).unwrap();
            let fec = parse(ssrc, &payload).unwrap();
            let (lost, expected) = lost.get(&packets);
            let held = |sequence: u16| {
                let packet = packets.iter().find(|(number, _)| *number == sequence && number != lost);
                packet.map(|(_, packet)| packet.as_slice())
            };
            prop_assert_eq!(fec.recover(held), Ok(Recovery::Packet(expected.clone())));
        }

        #[test]
        fn no_bytes_panic(payload: Vec<u8>, held: Vec<u8>) {
            if let Ok(fec) = parse(7, &payload) {
                let _ = fec.recover(|sequence| (sequence & 1 == 0).then_some(&held[..]));
            }
        }
    }
}
