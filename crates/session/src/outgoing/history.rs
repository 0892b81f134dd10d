//! The sent packets: for retransmissions, for useful padding, and for FEC.

use std::collections::{BTreeMap, VecDeque};
use std::ops::RangeInclusive;
use std::sync::Arc;

use thalweg_types::Fragment;
use thalweg_wire::ParseError;
use thalweg_wire::rtp::{Packet, blank_extensions};

/// A media packet that was sent.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    /// Its sequence number on the wire, not truncated to 16 bits.
    pub(super) sequence: u64,
    /// Its RTP timestamp.
    pub(super) timestamp: u32,
    /// True if it ended its frame (the RTP marker).
    pub(super) marker: bool,
    /// The fragment it carried.
    pub(super) fragment: Fragment,
    /// The offset of its payload in `packet`.
    pub(super) payload_from: usize,
    /// The whole packet, before RED encapsulation, if any, and before protection: shared with what is sent.
    pub(super) packet: Arc<Vec<u8>>,
}

impl Sent {
    /// Its payload.
    pub(super) fn payload(&self) -> &[u8] {
        &self.packet[self.payload_from..]
    }

    /// The data of its header extension with this id.
    pub(super) fn element(&self, id: u8) -> Option<&[u8]> {
        Packet::parse(&self.packet).ok()?.extensions?.get(id)
    }
}

/// Max number of remembered packets, as in libwebrtc (`RtpPacketHistory::kMaxCapacity`).
const MAX: usize = 9_600;
/// So many are remembered for FEC and padding, however little is retransmitted: the most that one FEC packet protects
/// (RFC 8627: 109), and half a second at 6 Mbps, which is what padding retransmits at most (`padding_content.deadline`).
const MIN: u64 = 256;

/// Room for a packet of media: 1140 bytes of its frame (`PacketSizes::max_payload`), and what is around them.
const PACKET: usize = 1280;
/// Buffers kept for later packets.
const SPARE: usize = 64;

/// Media packets by the engine's number.
#[derive(Debug, Default)]
pub(super) struct History {
    first: u64,
    packets: VecDeque<Option<Sent>>,
    /// The engine's number by the wire's: they differ because padding on the media stream takes sequence numbers too.
    numbers: BTreeMap<u64, u64>,
    /// Buffers of packets that were forgotten, for the next ones: about one is forgotten for each that is sent, and their size
    /// is one for which the allocator has no quick way (glibc: above 1032 bytes).
    spare: Vec<Vec<u8>>,
}

impl History {
    /// The engine's packet `number` was sent; numbers are consecutive. `None` if padding was sent instead.
    pub(super) fn push(&mut self, number: u64, sent: Option<Sent>) {
        if number != self.first + self.packets.len() as u64 {
            *self = History { first: number, ..History::default() };
        }
        if let Some(sent) = &sent {
            self.numbers.insert(sent.sequence, number);
        }
        self.packets.push_back(sent);
        if self.packets.len() > MAX {
            self.pop();
        }
    }

    /// Packets before `number` are retransmitted no more: their memory is given back, but for the newest few hundred.
    pub(super) fn forget_before(&mut self, number: u64) {
        let next = self.first + self.packets.len() as u64;
        while self.first < number.min(next.saturating_sub(MIN)) {
            self.pop();
        }
    }

    fn pop(&mut self) {
        let Some(oldest) = self.packets.pop_front() else { return };
        self.first += 1;
        if let Some(oldest) = oldest {
            self.numbers.remove(&oldest.sequence);
            if self.spare.len() < SPARE {
                self.spare.extend(Arc::into_inner(oldest.packet));
            }
        }
    }

    /// An empty buffer for a packet.
    pub(super) fn buffer(&mut self) -> Vec<u8> {
        let mut buffer = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(PACKET));
        buffer.clear();
        buffer
    }

    /// The packet with this engine's number.
    pub(super) fn get(&self, number: u64) -> Option<&Sent> {
        self.packets.get(usize::try_from(number.checked_sub(self.first)?).ok()?)?.as_ref()
    }

    /// The packet with this engine's number, with zeros for the header extensions with these ids.
    ///
    /// # Errors
    /// When it is not RTP.
    pub(super) fn blanked(&self, number: u64, ids: &[u8]) -> Result<Option<Vec<u8>>, ParseError> {
        let Some(mut packet) = self.get(number).map(|sent| sent.packet.to_vec()) else { return Ok(None) };
        blank_extensions(&mut packet, ids)?;
        Ok(Some(packet))
    }

    /// The engine's number of the packet with this sequence number on the wire.
    pub(super) fn number(&self, sequence: u64) -> Option<u64> {
        self.numbers.get(&sequence).copied()
    }

    /// Among the newest `among` packets, the largest with a payload size in `bytes`.
    pub(super) fn largest(&self, among: usize, bytes: RangeInclusive<usize>) -> Option<&Sent> {
        let fits = |sent: &&Sent| bytes.contains(&sent.payload().len());
        self.packets.iter().rev().take(among).flatten().filter(fits).max_by_key(|sent| sent.payload().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fragment;

    #[test]
    fn what_is_retransmitted_no_more_is_forgotten_but_for_what_padding_and_fec_may_take() {
        let fragment = fragment(0, (0, 1));
        let sent = |sequence| Sent {
            sequence,
            timestamp: 0,
            marker: true,
            fragment,
            payload_from: 12,
            packet: vec![0x80; 1200].into(),
        };
        let mut history = History::default();
        (0..1000).for_each(|number| history.push(number, Some(sent(number + 7))));
        history.forget_before(600);
        assert!(history.get(599).is_none() && history.get(600).is_some());
        assert_eq!((history.number(606), history.number(607)), (None, Some(600)));
        history.forget_before(1000);
        assert!(history.get(1000 - MIN - 1).is_none() && history.get(1000 - MIN).is_some());
        assert_eq!((history.packets.len() as u64, history.numbers.len() as u64), (MIN, MIN));
        // A gap in the numbers begins anew.
        history.push(2000, Some(sent(2007)));
        history.forget_before(5000);
        assert!(history.get(2000).is_some());
    }

    #[test]
    fn what_is_not_rtp_cannot_be_protected_by_fec_and_what_is_forgotten_is_none() {
        let fragment = fragment(0, (0, 1));
        let sent = |packet: Vec<u8>| Sent {
            sequence: 9,
            timestamp: 0,
            marker: true,
            fragment,
            payload_from: 0,
            packet: packet.into(),
        };
        let mut history = History::default();
        history.push(0, Some(sent(vec![0x80; 12])));
        history.push(1, Some(sent(vec![0x80; 11])));
        assert_eq!((history.blanked(0, &[3]), history.blanked(2, &[3])), (Ok(Some(vec![0x80; 12])), Ok(None)));
        assert!(history.blanked(1, &[3]).is_err());
    }
}
