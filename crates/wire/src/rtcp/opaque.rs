//! Packets of a type or format that is not parsed here.

use alloc::vec::Vec;

use super::header::{Header, frame};
use crate::WriteError;

/// A packet kept unparsed, without its padding: port mappings (210, RFC 6284), feedback of other formats, future types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opaque {
    /// The packet type.
    pub kind: u8,
    /// The five bits of the header: a count, or a feedback format; 0 to 31.
    pub count: u8,
    /// The bytes after the 4-byte header, at most 262140.
    pub body: Vec<u8>,
}

impl Opaque {
    pub(super) fn parse(header: &Header<'_>) -> Opaque {
        Opaque { kind: header.kind, count: header.count, body: header.body().rest().to_vec() }
    }

    /// Appends the packet, padded to whole words.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        frame(out, self.kind, self.count, |out| {
            out.extend_from_slice(&self.body);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::{Packet, parse, testing};
    use proptest::prelude::*;

    #[test]
    fn a_packet_of_a_type_nobody_reads_is_kept() {
        let packet = Opaque { kind: 210, count: 0, body: [0, 0, 0, 1, 4, 0, 0, 2, 9, 9, 9, 9, 8, 8, 8, 8].to_vec() };
        let bytes = [0x80, 210, 0, 4, 0, 0, 0, 1, 4, 0, 0, 2, 9, 9, 9, 9, 8, 8, 8, 8];
        testing::is_written_as(&Packet::Opaque(packet), &bytes);
    }

    #[test]
    fn a_body_larger_than_the_length_field_counts_is_refused() {
        let mut out = Vec::new();
        let packet = Opaque { kind: 210, count: 0, body: [0].repeat(262_141) };
        assert!(packet.write(&mut out).is_err() && out.is_empty());
        assert!(Opaque { body: [0].repeat(262_140), ..packet }.write(&mut out).is_ok());
        assert_eq!(parse(&out).map(|packets| packets.len()), Ok(1));
    }

    proptest! {
        #[test]
        fn what_is_not_known_survives(kind in 208u8..=255, count in 0u8..32, body: Vec<u8>) {
            testing::survives(Packet::Opaque(Opaque { kind, count, body }))?;
        }
    }
}
