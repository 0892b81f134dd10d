//! The XORs of a set of packets: of the header fields that differ between them, and of all that follows the header. Of
//! one packet they are the packet itself, but for what is known of it.

use alloc::vec::Vec;

use crate::ParseError;
use crate::reader::Reader;

/// The bytes every RTP packet begins with, which are not covered whole: version, sequence number and SSRC are known.
pub(crate) const HEADER: usize = 12;

/// XOR of packets in the making.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Xor {
    /// P, X and CC, in their places in the first byte.
    pub(crate) flags: u8,
    /// M and the payload type.
    pub(crate) kind: u8,
    /// Of the bytes after the header, their number.
    pub(crate) length: u16,
    /// The timestamp.
    pub(crate) timestamp: u32,
    /// The bytes after the header, shorter packets filled up with zeros.
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

    /// Takes a packet off again, of its bytes as many as there are of the XOR.
    pub(crate) fn take_off(&mut self, packet: &[u8]) {
        let Some((header, rest)) = packet.split_first_chunk::<HEADER>() else { return };
        self.flags ^= header[0] & 0x3f;
        self.kind ^= header[1];
        self.length ^= rest.len() as u16;
        self.timestamp ^= u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
        self.rest.iter_mut().zip(rest).for_each(|(sum, byte)| *sum ^= byte);
    }

    /// Reads the fields as FlexFEC has them, two bits that are no part of them before the first, and what follows as
    /// the rest.
    pub(crate) fn parse(reader: &mut Reader<'_>) -> Result<(u8, Xor), ParseError> {
        let first = reader.u8("FEC's first byte")?;
        let kind = reader.u8("payload type recovery")?;
        let length = reader.u16("length recovery")?;
        let timestamp = reader.u32("timestamp recovery")?;
        Ok((first >> 6, Xor { flags: first & 0x3f, kind, length, timestamp, rest: Vec::new() }))
    }

    /// Appends the fields as FlexFEC has them.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.flags, self.kind]);
        out.extend_from_slice(&self.length.to_be_bytes());
        out.extend_from_slice(&self.timestamp.to_be_bytes());
    }
}
