//! The packets sent and the outcome of each.

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, Time};

use super::Config;
use crate::packet::{PacketId, SentPacket};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    InFlight,
    /// In flight, but a report said that it had not arrived.
    Missing,
    Lost,
    /// In flight no longer: reports no longer speak of it, and none said that it had not arrived.
    Unreported,
    Arrived,
}

impl State {
    fn is_in_flight(self) -> bool {
        matches!(self, State::InFlight | State::Missing)
    }
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    packet: SentPacket,
    state: State,
}

/// Packets by number, from the oldest whose fate may still matter.
#[derive(Debug, Clone, Default)]
pub(super) struct Packets {
    /// `entries[i]` has number `first + i`.
    entries: VecDeque<Entry>,
    first: u64,
    in_flight: Bytes,
}

impl Packets {
    /// The number of the oldest packet remembered.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// The number that the next packet must have.
    pub(super) fn next(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    /// Bytes sent and neither arrived nor lost.
    pub(super) fn in_flight(&self) -> Bytes {
        self.in_flight
    }

    /// Adds a packet that leaves.
    pub(super) fn push(&mut self, packet: SentPacket) {
        if self.entries.is_empty() {
            self.first = packet.id.0;
        }
        debug_assert_eq!(packet.id.0, self.next(), "packet numbers have a gap");
        self.in_flight += packet.size;
        self.entries.push_back(Entry { packet, state: State::InFlight });
    }

    /// Marks a packet as arrived; returns it and whether it had been declared lost, or `None` if the arrival was known,
    /// or the packet never sent or forgotten.
    pub(super) fn arrive(&mut self, id: PacketId) -> Option<(&SentPacket, bool)> {
        let index = self.place(id)?;
        let entry = self.entries.get_mut(index)?;
        let before = core::mem::replace(&mut entry.state, State::Arrived);
        if before.is_in_flight() {
            self.in_flight -= entry.packet.size;
        }
        (before != State::Arrived).then_some((&entry.packet, before == State::Lost))
    }

    /// A report says that this packet has not arrived.
    pub(super) fn miss(&mut self, id: PacketId) {
        if let Some(entry) = self.place(id).and_then(|index| self.entries.get_mut(index))
            && entry.state == State::InFlight
        {
            entry.state = State::Missing;
        }
    }

    /// Marks the packet of this number as lost unless its fate is known. The number must be remembered.
    pub(super) fn lose(&mut self, number: u64) -> Option<&SentPacket> {
        self.settle(number, State::Lost)
    }

    /// The same if a report said that it had not arrived; otherwise the packet is only in flight no longer.
    pub(super) fn lose_if_missing(&mut self, number: u64) -> Option<&SentPacket> {
        let is_missing = self.entries[(number - self.first) as usize].state == State::Missing;
        let settled = self.settle(number, if is_missing { State::Lost } else { State::Unreported });
        settled.filter(|_| is_missing)
    }

    /// Takes the packet of this number out of flight; `None` if it was not in flight.
    fn settle(&mut self, number: u64, state: State) -> Option<&SentPacket> {
        let entry = &mut self.entries[(number - self.first) as usize];
        if !entry.state.is_in_flight() {
            return None;
        }
        entry.state = state;
        self.in_flight -= entry.packet.size;
        Some(&entry.packet)
    }

    /// Where a packet would be among the entries; `None` for one that is forgotten.
    fn place(&self, id: PacketId) -> Option<usize> {
        id.0.checked_sub(self.first).and_then(|index| usize::try_from(index).ok())
    }

    /// Drops the oldest packets while they are settled and below `judged`, or while there are too many.
    pub(super) fn forget(&mut self, now: Time, judged: u64, config: &Config) {
        while let Some(front) = self.entries.front() {
            let settled = match front.state {
                State::Arrived => true,
                State::Lost | State::Unreported => front.packet.at + config.remember < now,
                State::InFlight | State::Missing => false,
            };
            // The newest packet stays, so that numbers keep their meaning.
            let crowded = self.entries.len() > config.capacity;
            if self.entries.len() == 1 || !(settled && self.first < judged || crowded) {
                break;
            }
            if front.state.is_in_flight() {
                self.in_flight -= front.packet.size;
            }
            self.entries.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packets(count: u64) -> Packets {
        let mut packets = Packets::default();
        (0..count).for_each(|id| {
            packets.push(SentPacket::new(PacketId(id), Time::from_millis(id), Bytes::new(1000)));
        });
        packets
    }

    #[test]
    fn each_fate_is_news_once_and_a_late_arrival_is_news_of_a_lost_packet() {
        let mut packets = packets(2);
        assert!(packets.arrive(PacketId(0)).is_some_and(|(_, was_lost)| !was_lost));
        assert!(packets.arrive(PacketId(0)).is_none() && packets.lose(0).is_none());
        assert!(packets.lose(1).is_some() && packets.lose(1).is_none());
        assert_eq!(packets.in_flight(), Bytes::ZERO);
        assert!(packets.arrive(PacketId(1)).is_some_and(|(_, was_lost)| was_lost));
        assert_eq!(packets.in_flight(), Bytes::ZERO);
        assert!(packets.arrive(PacketId(2)).is_none(), "never sent");
    }

    #[test]
    fn a_lost_packet_is_remembered_for_a_while_and_the_newest_for_ever() {
        let mut packets = packets(2);
        let config = Config::default();
        packets.lose(0);
        packets.lose(1);
        packets.forget(Time::ZERO + config.remember, 2, &config);
        assert_eq!(packets.first(), 0);
        packets.forget(Time::from_millis(1_000) + config.remember, 2, &config);
        assert_eq!((packets.first(), packets.next()), (1, 2));
    }

    #[test]
    fn a_receiver_that_never_reports_costs_bounded_memory() {
        let mut packets = packets(1000);
        packets.forget(Time::from_millis(1000), 0, &Config { capacity: 100, ..Config::default() });
        assert_eq!((packets.entries.len(), packets.in_flight()), (100, Bytes::new(100_000)));
    }
}
