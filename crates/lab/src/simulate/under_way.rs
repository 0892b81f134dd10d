//! Packets under way: each until it, or the last of the copies that hops made of it, has left the network.

use std::collections::VecDeque;

use thalweg_sender::Packet;

/// The part of a sent packet that something on a link is: a duplicated packet and its copy are half of it each. A packet has
/// left the network when its parts have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part(u32);

impl Part {
    pub(super) const WHOLE: Part = Part(1 << 31);

    /// Divides it in two: this is one, the other is returned; `None` of what cannot be divided any more.
    pub(super) fn halve(&mut self) -> Option<Part> {
        let half = self.0 / 2;
        self.0 -= half;
        (half > 0).then_some(Part(half))
    }
}

/// The packets of a flow that are in flight.
#[derive(Debug)]
pub(super) struct UnderWay<P = Packet> {
    /// `packets[i]` is number `first + i`; `None` once it has left the path.
    packets: VecDeque<Option<Slot<P>>>,
    first: u64,
}

/// A packet of which something is on the path.
#[derive(Debug)]
struct Slot<P> {
    packet: P,
    /// How much of it is there.
    left: u32,
    arrived: bool,
}

impl<P> Default for UnderWay<P> {
    fn default() -> UnderWay<P> {
        UnderWay { packets: VecDeque::new(), first: 0 }
    }
}

impl UnderWay {
    /// A packet is sent; numbers have no gaps.
    pub(super) fn enter(&mut self, packet: Packet) {
        let id = packet.sent.id.0;
        let number = self.push(packet);
        debug_assert_eq!(id, number, "packet numbers have a gap");
    }
}

impl<P: Clone> UnderWay<P> {
    /// Adds the next packet; returns its number.
    pub(super) fn push(&mut self, packet: P) -> u64 {
        self.packets.push_back(Some(Slot { packet, left: Part::WHOLE.0, arrived: false }));
        self.first + self.packets.len() as u64 - 1
    }

    /// A packet or a copy of it arrives: the packet, and whether it is the first to do so.
    pub(super) fn arrive(&mut self, number: u64, part: Part) -> Option<(P, bool)> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let slot = self.packets.get_mut(index)?.as_mut()?;
        let is_first = !std::mem::replace(&mut slot.arrived, true);
        let packet = if slot.left > part.0 { Some(slot.packet.clone()) } else { None };
        let last = self.leave(index, part);
        Some((packet.or(last.map(|slot| slot.packet))?, is_first))
    }

    /// A packet or a copy of it is dropped: the packet, if nothing of it has arrived or can.
    pub(super) fn lose(&mut self, number: u64, part: Part) -> Option<P> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.leave(index, part).filter(|slot| !slot.arrived).map(|slot| slot.packet)
    }

    /// A part of a packet leaves the path; returns the packet if it was the last.
    fn leave(&mut self, index: usize, part: Part) -> Option<Slot<P>> {
        let place = self.packets.get_mut(index)?;
        let left = &mut place.as_mut()?.left;
        *left = left.saturating_sub(part.0);
        let last = if *left == 0 { place.take() } else { None };
        while let Some(None) = self.packets.front() {
            self.packets.pop_front();
            self.first += 1;
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_control::{PacketId, SentPacket};
    use thalweg_sender::Content;
    use thalweg_units::{Bytes, Span, Time};

    #[test]
    fn packets_leave_in_any_order_and_once() {
        let mut under_way = UnderWay::default();
        for number in 0..4 {
            let sent = SentPacket::new(PacketId(number), Time::ZERO, Bytes::new(1200));
            under_way.enter(Packet {
                sent,
                grace: Span::ZERO,
                before: Bytes::ZERO,
                requests_feedback: true,
                report_may_wait: false,
                content: Content::Padding,
            });
        }
        let mut leave = |number| under_way.lose(number, Part::WHOLE).map(|packet| packet.sent.id.0);
        assert_eq!([2, 0, 1, 1, 2, 3, 4].map(&mut leave), [Some(2), Some(0), Some(1), None, None, Some(3), None]);
        assert!(under_way.packets.is_empty() && under_way.first == 4);
    }

    #[test]
    fn a_packet_arrives_once_whatever_copies_do_and_is_lost_with_the_last_of_them() {
        let mut under_way = UnderWay::<&str>::default();
        let thirds = || {
            let mut one = Part::WHOLE;
            let mut two = one.halve().unwrap();
            let three = two.halve().unwrap();
            [one, two, three]
        };
        let [arrives, lost] = [under_way.push("arrives"), under_way.push("lost")];
        let [one, two, three] = thirds();
        assert_eq!(under_way.lose(arrives, one), None, "two copies are under way");
        assert_eq!(under_way.arrive(arrives, two), Some(("arrives", true)));
        assert_eq!(under_way.arrive(arrives, three), Some(("arrives", false)));
        assert_eq!(under_way.arrive(arrives, three), None, "nothing of it is left");
        assert_eq!(thirds().map(|part| under_way.lose(lost, part)), [None, None, Some("lost")]);
        assert!(under_way.packets.is_empty());
    }

    #[test]
    fn a_part_can_be_divided_thirty_one_times() {
        let mut part = Part::WHOLE;
        assert_eq!(std::iter::from_fn(|| part.halve()).count(), 31);
    }
}
