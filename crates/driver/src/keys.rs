//! The foreign program's names of packets, and our own dense numbers.

use alloc::collections::{BTreeMap, VecDeque};

use thalweg_control::PacketId;
use thalweg_types::feedback::{Numbering, Streams};
use thalweg_wire::unwrap::SequenceUnwrapper;

use crate::packets::Departure;

/// Which packet has which key, and which number on which RTP stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys {
    ids: BTreeMap<u64, PacketId>,
    /// `order[i]` is the key of packet `first + i`.
    order: VecDeque<u64>,
    first: u64,
    streams: Streams,
    sequences: BTreeMap<u32, SequenceUnwrapper>,
}

impl Keys {
    /// The number that the next packet gets.
    pub(crate) fn next(&self) -> PacketId {
        PacketId(self.first + self.order.len() as u64)
    }

    /// The packet of this key, if it is remembered.
    pub(crate) fn find(&self, key: u64) -> Option<PacketId> {
        self.ids.get(&key).copied()
    }

    /// Numbers a packet whose key is not in use.
    pub(crate) fn add(&mut self, departure: &Departure) -> PacketId {
        let id = self.next();
        self.ids.insert(departure.key, id);
        self.order.push_back(departure.key);
        if let Some((ssrc, sequence)) = departure.stream {
            let sequence = self.sequences.entry(ssrc).or_default().unwrap(sequence.into());
            // A number that goes back is a packet sent again: reports cannot tell it from the first.
            if self.streams.newest_of(ssrc).is_none_or(|newest| sequence > newest) {
                self.streams.on_sent(id, ssrc, sequence);
            }
        }
        id
    }

    /// Forgets the packets before `oldest`.
    pub(crate) fn forget(&mut self, oldest: PacketId) {
        while self.first < oldest.0
            && let Some(key) = self.order.pop_front()
        {
            self.ids.remove(&key);
            self.first += 1;
        }
    }
}

impl Numbering for Keys {
    fn newest(&self) -> Option<PacketId> {
        self.next().0.checked_sub(1).map(PacketId)
    }

    fn newest_transport(&self) -> Option<u64> {
        self.order.back().copied()
    }

    fn transported(&self, number: u64) -> Option<PacketId> {
        self.find(number)
    }

    fn newest_of(&self, ssrc: u32) -> Option<u64> {
        self.streams.newest_of(ssrc)
    }

    fn is_media(&self, ssrc: u32) -> bool {
        self.streams.newest_of(ssrc).is_some()
    }

    fn newest_frame(&self) -> Option<u64> {
        None
    }

    fn packet(&self, ssrc: u32, sequence: u64) -> Option<PacketId> {
        self.streams.packet(ssrc, sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Bytes;

    fn departure(key: u64, sequence: u16) -> Departure {
        Departure { stream: Some((7, sequence)), ..Departure::new(key, Bytes::new(1200)) }
    }

    #[test]
    fn keys_have_holes_and_numbers_have_none() {
        let mut keys = Keys::default();
        for (key, sequence) in [(10, 65_534), (12, 65_535), (900, 0), (13, 1)] {
            keys.add(&departure(key, sequence));
        }
        assert_eq!(
            [12, 900, 13, 11].map(|key| keys.find(key)),
            [Some(PacketId(1)), Some(PacketId(2)), Some(PacketId(3)), None]
        );
        let newest = keys.newest_of(7).unwrap();
        assert_eq!((keys.packet(7, newest), keys.packet(7, newest - 3)), (Some(PacketId(3)), Some(PacketId(0))));
        assert_eq!((keys.newest(), keys.newest_transport()), (Some(PacketId(3)), Some(13)));
        keys.forget(PacketId(2));
        assert_eq!([12, 900].map(|key| keys.find(key)), [None, Some(PacketId(2))]);
        assert_eq!(keys.next(), PacketId(4));
    }

    #[test]
    fn a_packet_sent_again_under_its_number_leaves_that_number_with_the_first() {
        let mut keys = Keys::default();
        for (key, sequence) in [(0, 100), (1, 101), (2, 100), (3, 102)] {
            keys.add(&departure(key, sequence));
        }
        let newest = keys.newest_of(7).unwrap();
        let packets = [2, 1, 0].map(|back| keys.packet(7, newest - back));
        assert_eq!(packets, [0, 1, 3].map(|id| Some(PacketId(id))));
    }
}
