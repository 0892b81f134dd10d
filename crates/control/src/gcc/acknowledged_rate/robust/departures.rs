//! The packets of the window that also count at the sending side.

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, Rate, Span};

use super::{Arrived, FLOOR, MIN_PACKETS};

/// Packets by sending time, those sent at once by arrival, and their sum.
#[derive(Debug, Clone, Default)]
pub(super) struct Departures {
    packets: VecDeque<Arrived>,
    bytes: Bytes,
}

impl Departures {
    /// Adds one in its place, which is near the end.
    pub(super) fn add(&mut self, packet: Arrived) {
        let key = |packet: &Arrived| (packet.sent, packet.at);
        let before = self.packets.iter().rposition(|other| key(other) <= key(&packet));
        self.packets.insert(before.map_or(0, |index| index + 1), packet);
        self.bytes += packet.size;
    }

    /// The packet that arrived first leaves the window, and with it all that were sent before it.
    pub(super) fn drop_until(&mut self, packet: Arrived) {
        while self.packets.front().is_some_and(|other| other.sent < packet.sent) {
            self.drop_first();
        }
        // Of those sent at once with it, it arrived first.
        self.drop_first();
    }

    fn drop_first(&mut self) {
        if let Some(first) = self.packets.pop_front() {
            self.bytes -= first.size;
        }
    }

    /// Bytes without the last packet's over the time from first to last; `None` from too few packets.
    pub(super) fn rate(&self) -> Option<Rate> {
        let (first, last) = (self.packets.front()?, self.packets.back()?);
        let span: Span = last.sent - first.sent;
        (self.packets.len() >= MIN_PACKETS).then(|| (self.bytes - last.size).per(span.max(FLOOR)))
    }
}
