//! What was sent, as it was sent: for retransmissions, for padding that may yet be of use, and for FEC.

use std::collections::{BTreeMap, VecDeque};
use std::ops::RangeInclusive;

use thalweg_media::Fragment;
use thalweg_wire::rtp::Packet;

/// A media packet that was sent.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    /// Its number on the wire, not cut to 16 bits.
    pub(super) sequence: u64,
    /// Its RTP timestamp.
    pub(super) timestamp: u32,
    /// Whether it ended its frame.
    pub(super) marker: bool,
    /// What it carried.
    pub(super) fragment: Fragment,
    /// Where its payload begins in `packet`.
    pub(super) payload_from: usize,
    /// The whole packet before it was put into RED, if it was, and before it was protected.
    pub(super) packet: Vec<u8>,
}

impl Sent {
    /// The payload it had.
    pub(super) fn payload(&self) -> &[u8] {
        &self.packet[self.payload_from..]
    }

    /// The data of the header extension that it had under this id.
    pub(super) fn element(&self, id: u8) -> Option<&[u8]> {
        Packet::parse(&self.packet).ok()?.extensions?.get(id)
    }
}

/// As many as libwebrtc remembers at most (`RtpPacketHistory::kMaxCapacity`).
const MAX: usize = 9_600;

/// Media packets by the engine's number.
#[derive(Debug, Default)]
pub(super) struct History {
    first: u64,
    packets: VecDeque<Option<Sent>>,
    /// The engine's number of what is on the wire under another: padding on the media stream takes numbers too.
    numbers: BTreeMap<u64, u64>,
}

impl History {
    /// Packet `number` of the engine's was sent; numbers follow one another. `None` when padding went in its place.
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

    /// A packet by the engine's number.
    pub(super) fn get(&self, number: u64) -> Option<&Sent> {
        self.packets.get(usize::try_from(number.checked_sub(self.first)?).ok()?)?.as_ref()
    }

    /// The engine's number of what was on the wire under this one.
    pub(super) fn number(&self, sequence: u64) -> Option<u64> {
        self.numbers.get(&sequence).copied()
    }

    /// Of the newest `among` packets the largest one whose payload is in `bytes`.
    pub(super) fn largest(&self, among: usize, bytes: RangeInclusive<usize>) -> Option<&Sent> {
        let fits = |sent: &&Sent| bytes.contains(&sent.payload().len());
        self.packets.iter().rev().take(among).flatten().filter(fits).max_by_key(|sent| sent.payload().len())
    }
}
