//! The bytes sent before each packet: H, for feedback that does not carry it.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use thalweg_units::Bytes;

use crate::estimate::Arrival;
use crate::feedback::Feedback;
use crate::packet::{PacketId, Payload, SentPacket};

/// Max number of packets remembered: as many as 16 bits can distinguish.
const REMEMBERED: usize = 1 << 16;

/// Bytes sent before each packet, for packets not yet reported and some that were.
#[derive(Debug, Clone, Default)]
pub(super) struct Sent {
    total: Bytes,
    /// In order of sending.
    before: VecDeque<(PacketId, Bytes)>,
}

impl Sent {
    /// Wire bytes sent so far.
    pub(super) fn total(&self) -> Bytes {
        self.total
    }

    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        self.before.push_back((packet.id, self.total));
        self.total += packet.size;
        if self.before.len() > REMEMBERED {
            self.before.pop_front();
        }
    }

    /// The arrivals in a report, as the receiver observed them.
    pub(super) fn arrivals(&self, feedback: &Feedback<'_>) -> Vec<Arrival> {
        let arrival = |(at, packet): (_, SentPacket)| {
            let place = self.before.binary_search_by_key(&packet.id, |(id, _)| *id).ok()?;
            let (_, before) = self.before[place];
            // A packet outside a frame forms a train with the other packets sent at the same instant.
            let (train, last) = packet.place.map_or((packet.at.as_nanos(), false), |place| (place.frame, place.last));
            let train = (packet.payload == Payload::Media).then_some(train);
            Some(Arrival { at, train, last, size: packet.size, before })
        };
        feedback.in_order_of_arrival().into_iter().filter_map(arrival).collect()
    }
}
