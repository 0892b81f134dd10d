//! Segments and acknowledgements.

use alloc::vec::Vec;

use thalweg_units::{Bytes, Ecn, Time};

use crate::{MarkReason, Packet};

/// Headers of IP (20 B) and TCP (20 B) with the timestamps of RFC 7323, padded (12 B).
pub(super) const HEADERS: Bytes = Bytes::new(52);

/// A segment that opens a connection, or its reply: 20 B of IP, 20 B of TCP and 20 B of options (RFC 7323 appendix A).
const OPENING: Bytes = Bytes::new(60);

/// At most this many blocks fit beside timestamps (RFC 2018 section 3).
pub(super) const BLOCKS: usize = 3;

/// From the sender: bytes `from..to` of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Which connection of the flow, counted from 0.
    pub connection: u32,
    /// When it was sent: the timestamp that the acknowledgement echoes (RFC 7323).
    pub sent: Time,
    /// The first byte.
    pub from: u64,
    /// One past the last byte; equal to `from` for the segment that opens a connection.
    pub to: u64,
    /// Its ECN field.
    pub ecn: Ecn,
}

impl Packet for Segment {
    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn mark(&mut self, _why: MarkReason) {
        self.ecn = Ecn::Ce;
    }

    fn bleach(&mut self) {
        self.ecn = Ecn::NotCapable;
    }
}

impl Segment {
    /// Returns true if it opens a connection.
    pub fn opens(&self) -> bool {
        self.from == self.to
    }

    /// Its size, from the IP header upwards.
    pub fn size(&self) -> Bytes {
        if self.opens() { OPENING } else { HEADERS + Bytes::new(self.to - self.from) }
    }
}

/// From the receiver: what has arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The connection of the flow.
    pub connection: u32,
    /// Every byte before this one has arrived; 0 without blocks only in the reply that opens a connection.
    pub up_to: u64,
    /// Bytes `from..to` beyond it that have arrived too, those of the newest segment first (RFC 2018).
    pub blocks: Vec<(u64, u64)>,
    /// When the first segment that this acknowledges in order was sent (RFC 7323 section 4.3).
    pub echo: Time,
    /// How many segments of the connection have come marked: AccECN, without the limits of its fields.
    pub marked: u64,
}

/// Acknowledgements are sent without ECN.
impl Packet for Acknowledgement {}

impl Acknowledgement {
    /// Its size, from the IP header upwards: each block takes 8 bytes, and the option 4 with its padding.
    pub fn size(&self) -> Bytes {
        match self.blocks.len() as u64 {
            0 if self.up_to == 0 => OPENING,
            0 => HEADERS,
            blocks => HEADERS + Bytes::new(4 + 8 * blocks),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn sizes_are_those_on_the_wire() {
        let segment = |from, to| Segment { connection: 0, sent: Time::ZERO, from, to, ecn: Ecn::NotCapable };
        assert_eq!(segment(0, 1448).size(), Bytes::new(1500));
        assert_eq!(segment(0, 0).size(), Bytes::new(60));
        let acknowledgement =
            |up_to, blocks| Acknowledgement { connection: 0, up_to, blocks, echo: Time::ZERO, marked: 0 };
        assert_eq!(acknowledgement(0, vec![]).size(), Bytes::new(60));
        assert_eq!(acknowledgement(1448, vec![]).size(), Bytes::new(52));
        assert_eq!(acknowledgement(0, vec![(1448, 2896)]).size(), Bytes::new(64));
        assert_eq!(acknowledgement(0, vec![(1448, 2896), (4344, 5792), (8688, 10136)]).size(), Bytes::new(80));
    }
}
