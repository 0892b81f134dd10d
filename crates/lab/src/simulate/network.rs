//! What travels: forward by number, since a hop would copy whatever it holds several times over.

use std::collections::VecDeque;

use thalweg_link::Path;
use thalweg_sender::Packet;

use crate::receiver::{Report, Request};

/// Both directions of the path.
pub(super) struct Network {
    pub(super) up: Path<Parcel>,
    pub(super) down: Path<Answer>,
}

/// What travels to a receiver.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parcel {
    pub(super) flow: u16,
    pub(super) cargo: Cargo,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Cargo {
    /// The packet of this number in its flow's order of sending.
    Packet(u64),
    /// A datagram of cross traffic.
    Datagram,
}

/// What travels back to a sender.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) flow: u16,
    pub(super) content: Content,
}

#[derive(Debug, Clone)]
pub(super) enum Content {
    Report(Report),
    Request(Request),
}

/// The packets of a flow that are under way.
#[derive(Debug, Default)]
pub(super) struct UnderWay {
    /// `packets[i]` is number `first + i`; `None` once it has left the path.
    packets: VecDeque<Option<Packet>>,
    first: u64,
}

impl UnderWay {
    /// A packet leaves its sender; numbers have no gaps.
    pub(super) fn enter(&mut self, packet: Packet) {
        debug_assert_eq!(packet.sent.id.0, self.first + self.packets.len() as u64, "packet numbers have a gap");
        self.packets.push_back(Some(packet));
    }

    /// A packet leaves the path, by whichever end.
    pub(super) fn leave(&mut self, number: u64) -> Option<Packet> {
        let index = number.checked_sub(self.first)?;
        let packet = self.packets.get_mut(index as usize)?.take();
        while let Some(None) = self.packets.front() {
            self.packets.pop_front();
            self.first += 1;
        }
        packet
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
            under_way.enter(Packet { sent, grace: Span::ZERO, asks: true, content: Content::Padding });
        }
        let mut leave = |number| under_way.leave(number).map(|packet| packet.sent.id.0);
        assert_eq!([2, 0, 1, 1, 2, 3, 4].map(&mut leave), [Some(2), Some(0), Some(1), None, None, Some(3), None]);
        assert!(under_way.packets.is_empty() && under_way.first == 4);
    }
}
