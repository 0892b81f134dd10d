//! The packets of the observation window (LOGWIN).

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, Rate, Span, Time};

use crate::packet::PacketId;

/// The outcome of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    Lost(PacketId),
    Arrived { size: Bytes, marked: bool, queued: bool },
}

/// Packets of the window, by the receiver's clock.
#[derive(Debug, Clone, Default)]
pub(super) struct Observed {
    packets: VecDeque<(Time, Seen)>,
    newest: Time,
    bytes: Bytes,
    lost: usize,
    marked: usize,
    queued: usize,
}

impl Observed {
    /// Takes an arrived packet; a lost one is recorded at the newest arrival.
    pub(super) fn add(&mut self, arrival: Option<Time>, seen: Seen, window: Span) {
        self.newest = arrival.unwrap_or(self.newest).max(self.newest);
        self.packets.push_back((self.newest, seen));
        match seen {
            Seen::Lost(_) => self.lost += 1,
            Seen::Arrived { size, marked, queued } => {
                self.bytes += size;
                self.marked += usize::from(marked);
                self.queued += usize::from(queued);
            }
        }
        while let Some((_, seen)) = self.packets.front().copied().filter(|(at, _)| *at + window <= self.newest) {
            self.packets.pop_front();
            match seen {
                Seen::Lost(_) => self.lost -= 1,
                Seen::Arrived { size, marked, queued } => {
                    self.bytes -= size;
                    self.marked -= usize::from(marked);
                    self.queued -= usize::from(queued);
                }
            }
        }
    }

    /// A packet counted as lost has arrived after all.
    pub(super) fn take_back(&mut self, id: PacketId) {
        if let Some(place) = self.packets.iter().rposition(|(_, seen)| *seen == Seen::Lost(id)) {
            self.packets.remove(place);
            self.lost -= 1;
        }
    }

    /// r_recv.
    pub(super) fn rate(&self, window: Span) -> Rate {
        self.bytes.per(window)
    }

    fn ratio(&self, count: usize) -> f64 {
        count as f64 / self.packets.len().max(1) as f64
    }

    /// The share of packets lost.
    pub(super) fn loss_ratio(&self) -> f64 {
        self.ratio(self.lost)
    }

    /// The share of packets marked.
    pub(super) fn mark_ratio(&self) -> f64 {
        self.ratio(self.marked)
    }

    /// Returns true if any packet was lost.
    pub(super) fn any_lost(&self) -> bool {
        self.lost > 0
    }

    /// Returns true if any packet met a queue.
    pub(super) fn any_queued(&self) -> bool {
        self.queued > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_second_of_packets_is_remembered() {
        let mut observed = Observed::default();
        let window = Span::from_millis(500);
        let packet = |marked, queued| Seen::Arrived { size: Bytes::new(1000), marked, queued };
        for tick in 0..100u64 {
            observed.add(Some(Time::from_millis(10 * tick)), packet(tick % 5 == 0, tick < 70), window);
        }
        assert_eq!(observed.rate(window), Rate::from_kbps(800));
        assert!((observed.mark_ratio() - 0.2).abs() < 1e-9 && observed.any_queued() && !observed.any_lost());
        observed.add(None, Seen::Lost(PacketId(7)), window);
        assert!((observed.loss_ratio() - 1.0 / 51.0).abs() < 1e-9 && observed.any_lost());
        observed.take_back(PacketId(6));
        assert!(observed.any_lost());
        observed.take_back(PacketId(7));
        assert!(!observed.any_lost() && observed.loss_ratio() == 0.0);
        observed.add(None, Seen::Lost(PacketId(8)), window);
        observed.add(Some(Time::from_millis(1200)), packet(false, false), window);
        assert!(!observed.any_queued() && observed.any_lost());
        observed.add(Some(Time::from_millis(9000)), packet(false, false), window);
        assert!(!observed.any_lost() && observed.rate(window) == Rate::from_kbps(16));
    }
}
