//! Common part of the FEC formats: the set of protected packets, their XOR, and the recovery of a missing packet. The
//! payloads are specific to each format: [`flexfec`](crate::flexfec) and [`ulpfec`](crate::ulpfec).

mod mask;
mod protected;
mod recover;
mod xor;

pub use mask::Mask;
pub(crate) use protected::Protected;
pub use recover::{Corrupt, Recovery};
pub(crate) use xor::{HEADER, Xor};

/// An FEC packet as it was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fec {
    /// The SSRC of the stream whose packets it protects.
    pub ssrc: u32,
    /// The protected packets.
    pub mask: Mask,
    pub(crate) xor: Xor,
    /// True if protected packets may be longer than the XOR, which then covers their beginnings (RFC 5109 section 8.2).
    pub(crate) covers_beginnings: bool,
}

#[cfg(test)]
pub(crate) mod testing {
    use crate::rtp::{Header, Packet};
    use alloc::vec::Vec;

    /// The three packets of the example (specs/fec.md 5).
    pub(crate) fn example() -> [Vec<u8>; 3] {
        let packet = |sequence, marker, payload: &[u8]| {
            let header = Header { marker, payload_type: 96, sequence, timestamp: 90_000, ssrc: 0x1122_3344 };
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
}
