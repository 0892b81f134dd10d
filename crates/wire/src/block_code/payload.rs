//! The payload of a parity packet.

use alloc::vec::Vec;

use super::code;
use crate::flexfec::Format;
use crate::parity::{Mask, Protected, Sums};
use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// The first byte: what no FlexFEC packet begins with.
const FIRST: u8 = 0xc0;
/// Whose mask it is.
pub(super) const MASK: Format = Format::Draft03;

/// A parity packet as it was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parity {
    /// The stream whose packets it protects.
    pub ssrc: u32,
    /// Which of its packets.
    pub mask: Mask,
    /// Which of the block's parity packets it is, from 0.
    pub index: u8,
    /// How many the block has, 1 to 255.
    pub count: u8,
    pub(super) symbol: Vec<u8>,
}

impl Parity {
    /// Reads a parity packet's payload.
    ///
    /// # Errors
    /// A header cut short, another format, an index that is not below the count, other than one stream, a mask without
    /// packets or without end, a symbol too short for an RTP packet or not of whole 16 bits.
    pub fn parse(payload: &[u8]) -> Result<Parity, ParseError> {
        let range = |what, at, found: u8, least: u8, most: u8| match (least..=most).contains(&found) {
            true => Ok(()),
            false => {
                Err(ParseError::OutOfRange { what, at, found: found.into(), least: least.into(), most: most.into() })
            }
        };
        let mut reader = Reader::new(payload);
        range("block code's first byte", 0, reader.u8("block code's first byte")?, FIRST, FIRST)?;
        let index = reader.u8("index of a block's parity packet")?;
        let count = reader.u8("number of a block's parity packets")?;
        range("number of a block's parity packets", 2, count, 1, u8::MAX)?;
        range("index of a block's parity packet", 1, index, 0, count - 1)?;
        range("number of streams under a block code", 3, reader.u8("number of streams under a block code")?, 1, 1)?;
        let ssrc = reader.u32("block code's protected SSRC")?;
        let mask = Mask::parse(MASK, &mut reader)?;
        let (at, symbol) = (reader.at(), reader.rest());
        if symbol.len() < Sums::FIELDS {
            let (needed, found) = (Sums::FIELDS, symbol.len());
            return Err(ParseError::Short { what: "block code's symbol", at, needed, found });
        }
        range("bytes of a block code's symbol past whole 16 bits", at, (symbol.len() % code::UNIT) as u8, 0, 0)?;
        Ok(Parity { ssrc, mask, index, count, symbol: symbol.to_vec() })
    }
}

/// The payloads of `count` parity packets (1 to 255) over `packets`, plaintext RTP of one stream and payload type in
/// ascending order of sequence numbers (those that wrap included).
///
/// # Errors
/// No packet, one that is none (12 to 65,547 bytes, version 2), one of another stream or payload type, one not after
/// the last, one 109 or more behind the first, no parity packet.
pub fn protect<'a>(packets: impl IntoIterator<Item = &'a [u8]>, count: u8) -> Result<Vec<Vec<u8>>, WriteError> {
    WriteError::check("number of a block's parity packets", count.into(), 1, u8::MAX.into())?;
    let mut payload_type = None;
    let mut block: Vec<&[u8]> = Vec::new();
    let Protected { ssrc, mask, sums } = Protected::of(MASK.longest(), packets, |packet| {
        let found = packet[1] & 0x7f;
        let first = u64::from(*payload_type.get_or_insert(found));
        WriteError::check("payload type of a packet in a block", found.into(), first, first)?;
        block.push(packet);
        Ok(())
    })?;
    let size = symbol_size(sums.rest.len());
    let symbols: Vec<Vec<u8>> = block.iter().map(|packet| symbol_of(packet, size)).collect();
    // What is asked for lies within what the code has: nothing is left that it could refuse.
    let parity = code::encode(&symbols, count.into()).unwrap_or_default();
    let payload = |(index, symbol): (u8, &Vec<u8>)| {
        let mut out = Vec::with_capacity(8 + 16 + size);
        out.extend_from_slice(&[FIRST, index, count, 1]);
        out.extend_from_slice(&ssrc.to_be_bytes());
        mask.write(MASK, &mut out);
        out.extend_from_slice(symbol);
        out
    };
    Ok((0..count).zip(&parity).map(payload).collect())
}

/// Bytes of a symbol for packets with up to so many bytes behind the header.
fn symbol_size(longest: usize) -> usize {
    (Sums::FIELDS + longest).next_multiple_of(code::UNIT)
}

/// What the code is over, of one packet.
pub(super) fn symbol_of(packet: &[u8], size: usize) -> Vec<u8> {
    let mut sums = Sums::default();
    sums.add(packet);
    let mut out = Vec::with_capacity(size);
    sums.write(&mut out);
    out.extend_from_slice(&sums.rest);
    out.resize(size, 0);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parity::testing::example;

    #[test]
    fn the_header_says_what_it_is_over_and_each_symbol_is_as_long_as_the_longest_packet() {
        let payloads = protect(example().iter().map(Vec::as_slice), 3).unwrap();
        assert_eq!(payloads.len(), 3);
        for (index, payload) in (0..).zip(&payloads) {
            // Eight bytes of fields, the five of the longest packet, and one more.
            assert_eq!(payload.len(), 12 + 8 + 5 + 1);
            assert_eq!(payload[..12], [0xc0, index, 3, 1, 0x11, 0x22, 0x33, 0x44, 0x03, 0xe8, 0xf0, 0]);
            let parity = Parity::parse(payload).unwrap();
            let Parity { ssrc, mask, index: read, count, .. } = &parity;
            assert_eq!((*ssrc, mask.first(), mask.places(), *read, *count), (0x1122_3344, 1000, 0b111, index, 3));
        }
    }

    #[test]
    fn one_packet_under_one_is_repeated() {
        // Of a code over one symbol each parity is a multiple of it; the first is the symbol.
        let [packet, ..] = example();
        let payload = protect([&packet[..]], 1).unwrap().remove(0);
        assert_eq!(payload[12..], symbol_of(&packet, 14)[..]);
        assert_eq!(payload[12..20], [0, 0x60, 0, 5, 0, 1, 0x5f, 0x90]);
    }

    #[test]
    fn what_is_no_block_is_refused() {
        let [a, b, c] = example();
        let refused = |packets: &[&[u8]], count| protect(packets.iter().copied(), count).unwrap_err().what;
        assert_eq!(refused(&[&a, &b], 0), "number of a block's parity packets");
        assert_eq!(refused(&[], 1), "length of a mask of protected packets");
        assert_eq!(refused(&[&a, &c, &b], 1), "distance of a packet under parity from the first");
        let mut other = b.clone();
        other[1] ^= 1;
        assert_eq!(refused(&[&a, &other], 1), "payload type of a packet in a block");
        // The marker is no part of it.
        other[1] = b[1] | 0x80;
        assert!(protect([&a[..], &other], 1).is_ok());
    }

    #[test]
    fn a_header_that_cannot_be_is_refused() {
        let payload = protect(example().iter().map(Vec::as_slice), 3).unwrap().remove(2);
        for (at, value) in [(0, 0x00), (0, 0xc1), (1, 3), (2, 0), (2, 2), (3, 0), (3, 2)] {
            let mut other = payload.clone();
            other[at] = value;
            assert!(matches!(Parity::parse(&other), Err(ParseError::OutOfRange { .. })), "{at}: {value}");
        }
        for length in 0..20 {
            assert!(Parity::parse(&payload[..length]).is_err(), "{length} bytes");
        }
        assert!(Parity::parse(&payload[..21]).is_err() && Parity::parse(&payload[..22]).is_ok());
    }
}
