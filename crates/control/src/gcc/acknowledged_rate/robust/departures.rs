//! The packets of the window that also count for the send rate.

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, Rate, Span};

use super::{Arrived, FLOOR, MIN_PACKETS};

/// Packets by sending time, packets with equal sending times by arrival, and the sum of their bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct Departures {
    packets: VecDeque<Arrived>,
    bytes: Bytes,
}

impl Departures {
    /// Inserts a packet at its position, which is near the end.
    pub(super) fn add(&mut self, packet: Arrived) {
        let key = |packet: &Arrived| (packet.sent, packet.at);
        let before = self.packets.iter().rposition(|other| key(other) <= key(&packet));
        self.packets.insert(before.map_or(0, |index| index + 1), packet);
        self.bytes += packet.size;
    }

    /// The earliest arrival leaves the window; removes it and all packets sent before it.
    pub(super) fn drop_until(&mut self, packet: Arrived) {
        while self.packets.front().is_some_and(|other| other.sent < packet.sent) {
            self.drop_first();
        }
        // Of the packets with equal sending times, it arrived first.
        self.drop_first();
    }

    fn drop_first(&mut self) {
        if let Some(first) = self.packets.pop_front() {
            self.bytes -= first.size;
        }
    }

    /// The bytes of all packets but the last, over the time from first to last; `None` with too few packets.
    pub(super) fn rate(&self) -> Option<Rate> {
        let (first, last) = (self.packets.front()?, self.packets.back()?);
        let span: Span = last.sent - first.sent;
        (self.packets.len() >= MIN_PACKETS).then(|| (self.bytes - last.size).per(span.max(FLOOR)))
    }
}
