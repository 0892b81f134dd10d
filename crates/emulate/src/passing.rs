//! Record of each packet for a relay's observer.

use thalweg_units::{Bytes, Time};

use super::Way;

/// The first bytes of a datagram: the fixed header of RTP and the length of its extensions (RFC 3550 section 5.3.1).
pub const HEAD: usize = 16;

/// A packet that passes a relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passing {
    /// Its number, in the order in which the packets of both directions arrived at the relay.
    pub number: u64,
    /// Its direction.
    pub way: Way,
    /// When, by the relay's clock.
    pub at: Time,
    /// Where it is.
    pub place: Place,
}

/// Where a packet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It arrived at the link.
    Before {
        /// Its size, from the IP header upwards.
        size: Bytes,
        /// The first bytes of its datagram; zeros where it is shorter.
        head: [u8; HEAD],
        /// The length of its datagram.
        length: usize,
    },
    /// It was forwarded. A packet that never is was dropped, or is still on the link.
    Behind,
}

/// The first bytes of a datagram.
pub(super) fn head(datagram: &[u8]) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    let length = datagram.len().min(HEAD);
    head[..length].copy_from_slice(&datagram[..length]);
    head
}
