//! The sent packets: for retransmissions, for useful padding, and for FEC.

use std::collections::{BTreeMap, VecDeque};
use std::ops::RangeInclusive;

use thalweg_media::Fragment;
use thalweg_wire::ParseError;
use thalweg_wire::rtp::{Packet, blank_extensions};

/// A media packet that was sent.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    /// Its sequence number on the wire, not truncated to 16 bits.
    pub(super) sequence: u64,
    /// Its RTP timestamp.
    pub(super) timestamp: u32,
    /// Whether it ended its frame (the RTP marker).
    pub(super) marker: bool,
    /// The fragment it carried.
    pub(super) fragment: Fragment,
    /// The offset of its payload in `packet`.
    pub(super) payload_from: usize,
    /// The whole packet, before RED encapsulation, if any, and before protection.
    pub(super) packet: Vec<u8>,
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

/// Media packets by the engine's number.
#[derive(Debug, Default)]
pub(super) struct History {
    first: u64,
    packets: VecDeque<Option<Sent>>,
    /// The engine's number by the wire's: they differ because padding on the media stream takes sequence numbers too.
    numbers: BTreeMap<u64, u64>,
}

impl History {
    /// The engine's packet `number` was sent; numbers are consecutive. `None` if padding was sent instead.
    pub(super) fn push(&mut self, number: u64, sent: Option<Sent>) {
        if number != self.first + self.packets.len() as u64 {
            (self.first, self.packets, self.numbers) = (number, VecDeque::new(), BTreeMap::new());
        }
        if let Some(sent) = &sent {
            self.numbers.insert(sent.sequence, number);
        }
        self.packets.push_back(sent);
        if self.packets.len() > MAX
            && let Some(oldest) = self.packets.pop_front()
        {
            self.first += 1;
            if let Some(oldest) = oldest {
                self.numbers.remove(&oldest.sequence);
            }
        }
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
        let Some(mut packet) = self.get(number).map(|sent| sent.packet.clone()) else { return Ok(None) };
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
    fn what_is_not_rtp_cannot_be_protected_by_fec_and_what_is_forgotten_is_none() {
        let fragment = fragment(0, (0, 1));
        let sent = |packet| Sent { sequence: 9, timestamp: 0, marker: true, fragment, payload_from: 0, packet };
        let mut history = History::default();
        history.push(0, Some(sent(vec![0x80; 12])));
        history.push(1, Some(sent(vec![0x80; 11])));
        assert_eq!((history.blanked(0, &[3]), history.blanked(2, &[3])), (Ok(Some(vec![0x80; 12])), Ok(None)));
        assert!(history.blanked(1, &[3]).is_err());
    }
}
