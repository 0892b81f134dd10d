//! Compound packets: several RTCP packets in a datagram (RFC 3550 section 6.1).

use alloc::vec::Vec;

use super::Packet;
use super::header::Header;
use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// Iterator over the packets of a datagram; ends with the datagram or after the first error.
#[derive(Debug, Clone)]
pub struct Compound<'a> {
    /// The remaining bytes; `None` after an error.
    rest: Option<Reader<'a>>,
}

impl<'a> Compound<'a> {
    /// The packets of `datagram`.
    pub fn new(datagram: &'a [u8]) -> Compound<'a> {
        Compound { rest: Some(Reader::new(datagram)) }
    }
}

impl Iterator for Compound<'_> {
    type Item = Result<Packet, ParseError>;

    fn next(&mut self) -> Option<Result<Packet, ParseError>> {
        let mut reader = self.rest.take()?;
        // An empty datagram is not a compound packet: parsing its header gives the error.
        if reader.is_empty() && reader.at() > 0 {
            return None;
        }
        let packet = Header::parse(&mut reader).and_then(|header| Packet::parse(&header));
        if packet.is_ok() {
            self.rest = Some(reader);
        }
        Some(packet)
    }
}

impl core::iter::FusedIterator for Compound<'_> {}

/// Reads all packets of a datagram.
///
/// # Errors
/// The first malformed packet, or an empty datagram. Use [`Compound`] to get the packets before the error.
pub fn parse(datagram: &[u8]) -> Result<Vec<Packet>, ParseError> {
    Compound::new(datagram).collect()
}

/// Appends `packets` to `out` as one compound packet. Put transport-wide feedback last: it can need padding, which
/// strict parsers accept on the last packet only (RFC 3550 section 6.4.1).
///
/// # Errors
/// When a value exceeds what the format can represent; `out` is then unchanged.
pub fn write(packets: &[Packet], out: &mut Vec<u8>) -> Result<(), WriteError> {
    let start = out.len();
    let written = packets.iter().try_for_each(|packet| packet.write(out));
    if written.is_err() {
        out.truncate(start);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::{Bye, Opaque, Pli};

    const LOSS: Packet = Packet::Pli(Pli { sender_ssrc: 1, media_ssrc: 2 });

    #[test]
    fn a_compound_is_read_packet_by_packet_up_to_the_first_error() {
        let mut datagram = Vec::new();
        write(&[LOSS, LOSS], &mut datagram).unwrap();
        assert_eq!(parse(&datagram), Ok([LOSS, LOSS].to_vec()));
        datagram[12] = 0;
        let error = ParseError::OutOfRange { what: "RTCP version", at: 12, found: 0, min: 2, max: 2 };
        assert_eq!(Compound::new(&datagram).collect::<Vec<_>>(), [Ok(LOSS), Err(error)]);
        assert_eq!(parse(&datagram), Err(error));
    }

    #[test]
    fn a_length_past_the_datagram_and_an_empty_datagram_are_refused() {
        let mut datagram = Vec::new();
        write(&[LOSS], &mut datagram).unwrap();
        datagram[3] = 3;
        assert_eq!(parse(&datagram), Err(ParseError::Short { what: "RTCP body", at: 4, needed: 12, found: 8 }));
        assert!(parse(&[]).is_err());
    }

    #[test]
    fn padding_is_taken_off_every_packet_and_checked() {
        // A padded goodbye as in RFC 3550, followed by another packet: padding is accepted on packets other than the
        // last.
        let datagram = [0xa0, 203, 0, 1, 0, 0, 0, 4, 0x80, 203, 0, 0];
        let goodbye = Packet::Bye(Bye::default());
        assert_eq!(parse(&datagram), Ok([goodbye.clone(), goodbye].to_vec()));
        for bad in [0, 5] {
            let mut datagram = datagram;
            datagram[7] = bad;
            assert!(parse(&datagram).is_err(), "padding of {bad}");
        }
        assert!(parse(&[0xa0, 203, 0, 0]).is_err());
    }

    #[test]
    fn nothing_is_written_of_a_compound_that_does_not_fit() {
        let mut out = [7].to_vec();
        let bad = Packet::Opaque(Opaque { kind: 207, count: 32, body: Vec::new() });
        assert!(write(&[LOSS, bad], &mut out).is_err());
        assert_eq!(out, [7]);
    }
}
