//! Retransmissions known to have arrived: their packets need not be sent again, however often they are requested.
//!
//! libwebrtc forgets acknowledged packets (`RtpPacketHistory::CullAcknowledgedPackets`). Otherwise a receiver that
//! looks for gaps only in the media stream, where retransmissions never appear (Pion's interceptors do), gets each lost
//! packet ten times and more.

use std::collections::{BTreeMap, BTreeSet};

use thalweg_control::{Acknowledgement, PacketId};

/// Max number of tracked retransmissions: libwebrtc's max (`RtpPacketHistory::kMaxCapacity`).
const MAX: usize = 9_600;

/// Media packets by their sequence numbers on the wire.
#[derive(Debug, Default)]
pub(super) struct Retransmitted {
    /// For each retransmission whose outcome is unknown, the packet it retransmits.
    under_way: BTreeMap<PacketId, u64>,
    /// The packets that arrived as retransmissions.
    arrived: BTreeSet<u64>,
}

impl Retransmitted {
    /// Packet `id` retransmits media packet `sequence`.
    pub(super) fn on_sent(&mut self, id: PacketId, sequence: u64) {
        self.under_way.insert(id, sequence);
        if self.under_way.len() > MAX {
            self.under_way.pop_first();
        }
    }

    /// The peer reported which packets arrived.
    pub(super) fn on_report(&mut self, acknowledgements: &[Acknowledgement]) {
        for acknowledgement in acknowledgements.iter().filter(|one| one.arrival.is_some()) {
            self.arrived.extend(self.under_way.remove(&acknowledgement.id));
        }
        while self.arrived.len() > MAX {
            self.arrived.pop_first();
        }
    }

    /// Returns true if a retransmission of media packet `sequence` has arrived.
    pub(super) fn has_arrived(&self, sequence: u64) -> bool {
        self.arrived.contains(&sequence)
    }
}

#[cfg(test)]
mod tests {
    use thalweg_units::Time;

    use super::*;

    fn report(id: u64, arrival: Option<Time>) -> Acknowledgement {
        Acknowledgement::new(PacketId(id), arrival)
    }

    #[test]
    fn what_came_as_a_retransmission_is_known_and_what_was_lost_again_is_not() {
        let mut retransmitted = Retransmitted::default();
        retransmitted.on_sent(PacketId(7), 1_000);
        retransmitted.on_sent(PacketId(8), 1_001);
        retransmitted.on_report(&[report(6, Some(Time::ZERO)), report(7, None), report(8, Some(Time::ZERO))]);
        assert!(!retransmitted.has_arrived(1_000) && retransmitted.has_arrived(1_001));
        // The second retransmission arrives.
        retransmitted.on_sent(PacketId(9), 1_000);
        retransmitted.on_report(&[report(9, Some(Time::ZERO))]);
        assert!(retransmitted.has_arrived(1_000));
    }

    #[test]
    fn no_more_is_remembered_than_can_be_asked_for() {
        let mut retransmitted = Retransmitted::default();
        for id in 0..3 * MAX as u64 {
            retransmitted.on_sent(PacketId(id), id);
            if id % 2 == 0 {
                retransmitted.on_report(&[report(id, Some(Time::ZERO))]);
            }
        }
        assert!(retransmitted.under_way.len() <= MAX && retransmitted.arrived.len() <= MAX);
        assert!(retransmitted.has_arrived(3 * MAX as u64 - 2) && !retransmitted.has_arrived(0));
    }
}
