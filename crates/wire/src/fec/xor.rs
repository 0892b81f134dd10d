//! The XOR of a set of packets: of the header fields that differ between them, and of everything after the header. The
//! XOR of one packet is the packet itself, except for the fields known without it.

use alloc::vec::Vec;

use crate::ParseError;
use crate::reader::Reader;

/// Bytes of the fixed RTP header, which is not covered completely: version, sequence number and SSRC are known.
pub(crate) const HEADER: usize = 12;

/// The accumulated XOR of packets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Xor {
    /// P, X and CC, at their positions in the first byte.
    pub(crate) flags: u8,
    /// M and the payload type.
    pub(crate) kind: u8,
    /// The number of bytes after the header.
    pub(crate) length: u16,
    /// The timestamp.
    pub(crate) timestamp: u32,
    /// The bytes after the header; shorter packets are padded with zeros.
    pub(crate) rest: Vec<u8>,
}

impl Xor {
    /// Adds a packet of at least 12 and at most 65,547 bytes.
    pub(crate) fn add(&mut self, packet: &[u8]) {
        let length = packet.len().saturating_sub(HEADER);
        if self.rest.len() < length {
            self.rest.resize(length, 0);
        }
        self.take_off(packet);
    }

    /// Removes a packet again; only as many of its bytes as the XOR has.
    pub(crate) fn take_off(&mut self, packet: &[u8]) {
        let Some((header, rest)) = packet.split_first_chunk::<HEADER>() else { return };
        self.flags ^= header[0] & 0x3f;
        self.kind ^= header[1];
        self.length ^= rest.len() as u16;
        self.timestamp ^= u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
        self.rest.iter_mut().zip(rest).for_each(|(sum, byte)| *sum ^= byte);
    }

    /// Parses the fields in FlexFEC's layout, preceded by two bits that are not part of them; everything after the
    /// fields is the rest.
    pub(crate) fn parse(reader: &mut Reader<'_>) -> Result<(u8, Xor), ParseError> {
        let first = reader.u8("FEC's first byte")?;
        let kind = reader.u8("payload type recovery")?;
        let length = reader.u16("length recovery")?;
        let timestamp = reader.u32("timestamp recovery")?;
        Ok((first >> 6, Xor { flags: first & 0x3f, kind, length, timestamp, rest: Vec::new() }))
    }

    /// Appends the fields in FlexFEC's layout.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.flags, self.kind]);
        out.extend_from_slice(&self.length.to_be_bytes());
        out.extend_from_slice(&self.timestamp.to_be_bytes());
    }
}
