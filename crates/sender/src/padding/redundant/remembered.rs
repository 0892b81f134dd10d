//! Media packets that may still be useful as padding, and what is known of each.

use alloc::collections::VecDeque;

use thalweg_control::{Fate, Feedback, PacketId, Payload};
use thalweg_types::{Fragment, Protected};
use thalweg_units::Bytes;

use crate::repair::fec::Member;

/// Max number of remembered packets: half a second at 20 Mbps.
const MAX: usize = 1_000;
/// The weight of one packet in the loss average: about the last 250 count.
const LOSS_GAIN: f64 = 1.0 / 250.0;

/// A media packet that left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tracked {
    id: PacketId,
    pub(super) sequence: u64,
    /// See [`Member::place`].
    pub(super) place: u64,
    pub(super) fragment: Fragment,
    pub(super) size: Bytes,
    pub(super) arrived: bool,
    pub(super) lost: bool,
    /// True if it was retransmitted after it was known to be lost.
    pub(super) again: bool,
    /// How often it was retransmitted before that.
    pub(super) retransmissions: u8,
    /// How many FEC packets protect it.
    pub(super) fec_packets: u8,
}

impl Tracked {
    /// A packet that just left, with nothing known of it.
    pub(super) fn new(id: PacketId, (sequence, place): (u64, u64), fragment: Fragment, size: Bytes) -> Tracked {
        Tracked {
            id,
            sequence,
            place,
            fragment,
            size,
            arrived: false,
            lost: false,
            again: false,
            retransmissions: 0,
            fec_packets: 0,
        }
    }

    /// The packet as FEC takes it.
    pub(super) fn member(&self) -> Member {
        Member { sequence: self.sequence, place: self.place, size: self.size }
    }
}

/// The media packets sent recently, in sending order.
#[derive(Debug, Clone, Default)]
pub(super) struct Remembered {
    packets: VecDeque<Tracked>,
    loss: f64,
}

impl Remembered {
    /// Another packet left.
    pub(super) fn push(&mut self, packet: Tracked) {
        if self.packets.len() == MAX {
            self.packets.pop_front();
        }
        self.packets.push_back(packet);
    }

    /// Forgets the oldest packets as long as they are useless.
    pub(super) fn forget(&mut self, useless: impl Fn(&Tracked) -> bool) {
        while self.packets.front().is_some_and(&useless) {
            self.packets.pop_front();
        }
    }

    /// The packets, oldest first.
    pub(super) fn packets(&self) -> impl Iterator<Item = &Tracked> + Clone {
        self.packets.iter()
    }

    /// See [`super::RedundantPadding::loss`].
    pub(super) fn loss(&self) -> f64 {
        self.loss
    }

    /// Takes feedback.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        for report in feedback.reports.iter().filter(|report| report.packet.payload == Payload::Media) {
            let lost = report.fate == Fate::Lost;
            self.loss += LOSS_GAIN * (f64::from(u8::from(lost)) - self.loss);
            let place = self.packets.binary_search_by_key(&report.packet.id, |packet| packet.id);
            if let Some(packet) = place.ok().and_then(|place| self.packets.get_mut(place)) {
                (packet.arrived, packet.lost) = (!lost, lost);
            }
        }
    }

    /// One more FEC packet protects these.
    pub(super) fn under_sum(&mut self, protects: &Protected) {
        self.packets
            .iter_mut()
            .filter(|packet| protects.contains(packet.sequence))
            .for_each(|packet| packet.fec_packets = packet.fec_packets.saturating_add(1));
    }

    /// This packet was retransmitted.
    pub(super) fn retransmitted(&mut self, sequence: u64) {
        if let Ok(place) = self.packets.binary_search_by_key(&sequence, |packet| packet.sequence) {
            let packet = &mut self.packets[place];
            packet.again = packet.lost;
            packet.retransmissions = packet.retransmissions.saturating_add(1);
        }
    }
}
