//! The path's contents: forward packets are passed by number, because hops copy their contents several times.

use std::collections::VecDeque;

use thalweg_link::Path;
use thalweg_link::traffic::tcp::Acknowledgement;
use thalweg_sender::Packet;

use thalweg_receiver::Message;

/// Both directions of the path.
pub(super) struct Network {
    pub(super) forward: Path<Parcel>,
    pub(super) reverse: Path<Answer>,
}

/// Items on the forward path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parcel {
    pub(super) flow: u16,
    pub(super) cargo: Cargo,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Cargo {
    /// The packet with this number in its flow's sending order.
    Packet(u64),
    /// The segment with this number in its flow's sending order.
    Segment(u64),
    /// A datagram of cross traffic.
    Datagram,
}

/// Items on the reverse path.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) flow: u16,
    pub(super) content: Content,
}

#[derive(Debug, Clone)]
pub(super) enum Content {
    /// RTCP.
    Feedback(Message),
    /// The acknowledgement of a TCP segment.
    Acknowledgement(Acknowledgement),
}

/// The packets of a flow that are in flight.
#[derive(Debug)]
pub(super) struct UnderWay<P = Packet> {
    /// `packets[i]` is number `first + i`; `None` once it has left the path.
    packets: VecDeque<Option<P>>,
    first: u64,
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

impl<P> UnderWay<P> {
    /// Adds the next packet; returns its number.
    pub(super) fn push(&mut self, packet: P) -> u64 {
        self.packets.push_back(Some(packet));
        self.first + self.packets.len() as u64 - 1
    }

    /// A packet leaves the path, delivered or dropped.
    pub(super) fn leave(&mut self, number: u64) -> Option<P> {
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
            under_way.enter(Packet {
                sent,
                grace: Span::ZERO,
                before: Bytes::ZERO,
                requests_feedback: true,
                report_may_wait: false,
                content: Content::Padding,
            });
        }
        let mut leave = |number| under_way.leave(number).map(|packet| packet.sent.id.0);
        assert_eq!([2, 0, 1, 1, 2, 3, 4].map(&mut leave), [Some(2), Some(0), Some(1), None, None, Some(3), None]);
        assert!(under_way.packets.is_empty() && under_way.first == 4);
    }
}
