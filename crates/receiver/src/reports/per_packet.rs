//! Reports on each packet at once, which the papers' window controllers assume.

use thalweg_control::{Acknowledgement, PacketId, SentPacket};
use thalweg_units::Time;

use super::arrivals::{Arrivals, Memory};

/// The packets that the next report names.
#[derive(Debug)]
pub(super) struct PerPacket {
    pending: Vec<Acknowledgement>,
    /// A copy that the path made of a packet arrives later than the packet did, and would be taken for it where the report
    /// on the packet is lost.
    arrivals: Arrivals,
    /// Packets of the last report that one before it had named as missing: no other says that they are not lost, so the
    /// next one names them again, as each report on request covers what the one before it covered.
    again: Vec<Acknowledgement>,
}

impl PerPacket {
    pub(super) fn new(memory: Memory) -> PerPacket {
        PerPacket { pending: Vec::new(), arrivals: Arrivals::new(memory), again: Vec::new() }
    }

    /// A packet arrived at this time by the receiver's clock. Returns whether it is new.
    pub(super) fn on_packet(&mut self, here: Time, sent: &SentPacket) -> bool {
        let was_missing = self.arrivals.begin().is_some_and(|next| sent.id.0 < next);
        if !self.arrivals.on_packet(here, sent.id.0) {
            return false;
        }
        let missing = self.arrivals.take().into_iter().filter(|(_, arrival)| arrival.is_none());
        self.pending.extend(missing.map(|(id, _)| Acknowledgement::new(PacketId(id), None)));
        let arrived = Acknowledgement::new(sent.id, Some(here)).with_ecn(sent.ecn);
        self.pending.push(arrived);
        self.again.extend(was_missing.then_some(arrived));
        true
    }

    /// The next report, in order of sending.
    pub(super) fn take(&mut self) -> Vec<Acknowledgement> {
        // Capacity for one, because nearly all reports hold one.
        let mut named = std::mem::replace(&mut self.pending, Vec::with_capacity(1));
        self.pending.append(&mut self.again);
        named.sort_by_key(|acknowledgement| acknowledgement.id);
        named
    }
}

#[cfg(test)]
mod tests {
    use thalweg_units::{Bytes, Span};

    use super::*;

    /// The reports on these packets, one after the other, each of the numbers that it names and whether they arrived.
    fn reports(packets: &[u64]) -> Vec<Vec<(u64, bool)>> {
        let mut reports = PerPacket::new(Memory::Lasting(Span::from_millis(500)));
        let mut on = |number: &u64| {
            let sent = SentPacket::new(PacketId(*number), Time::ZERO, Bytes::new(1200));
            assert!(reports.on_packet(Time::ZERO, &sent) && !reports.on_packet(Time::ZERO, &sent), "{number}");
            reports.take().iter().map(|named| (named.id.0, named.arrival.is_some())).collect()
        };
        packets.iter().map(&mut on).collect()
    }

    #[test]
    fn a_report_names_what_is_missing_before_its_packet_and_its_packet() {
        assert_eq!(reports(&[0, 2]), [vec![(0, true)], vec![(1, false), (2, true)]]);
    }

    #[test]
    fn a_packet_that_had_been_named_as_missing_is_named_by_two_reports() {
        let overtaken = reports(&[0, 2, 1, 3, 4]);
        assert_eq!(overtaken[2..], [vec![(1, true)], vec![(1, true), (3, true)], vec![(4, true)]]);
    }
}
