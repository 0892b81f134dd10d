//! The sums of a set of packets: of the header fields that differ between them, and of all that follows the header.

use alloc::vec::Vec;

/// The bytes every RTP packet begins with, which are not summed whole: version, sequence number and SSRC are known.
pub(super) const HEADER: usize = 12;

/// Sums in the making.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// P, X and CC, in their places in the first byte.
    pub(super) flags: u8,
    /// M and the payload type.
    pub(super) kind: u8,
    /// Of the bytes after the header, their number.
    pub(super) length: u16,
    /// The timestamp.
    pub(super) timestamp: u32,
    /// The bytes after the header, shorter packets filled up with zeros.
    pub(super) rest: Vec<u8>,
}

impl Sums {
    /// Adds a packet of at least 12 and at most 65,547 bytes; adding it again takes it off.
    pub(super) fn add(&mut self, packet: &[u8]) {
        let Some((header, rest)) = packet.split_first_chunk::<HEADER>() else { return };
        self.flags ^= header[0] & 0x3f;
        self.kind ^= header[1];
        self.length ^= rest.len() as u16;
        self.timestamp ^= u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
        if self.rest.len() < rest.len() {
            self.rest.resize(rest.len(), 0);
        }
        self.rest.iter_mut().zip(rest).for_each(|(sum, byte)| *sum ^= byte);
    }
}
