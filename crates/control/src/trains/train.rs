//! The packets of one frame.

use alloc::vec::Vec;

use thalweg_units::{Bytes, Rate, Span, Time};

use crate::feedback::{Fate, Report};
use crate::packet::{PacketId, Payload, SentPacket};

/// The packets of one frame. Sending times are by the sender's clock, arrivals by the receiver's.
#[derive(Debug, Clone)]
pub(crate) struct Train {
    pub(crate) first: PacketId,
    pub(crate) frame: Option<u64>,
    /// The payload of its packets: media, or retransmissions where they stand in for it.
    pub(crate) payload: Payload,
    /// True once all of its packets have left.
    pub(crate) complete: bool,
    pub(crate) lost: u32,
    pub(crate) followers: Vec<Follower>,
    /// When its first packet left (S_start).
    pub(crate) began: Time,
    /// Time from then to the first packet of the next train.
    pub(crate) until_next: Option<Span>,
    /// F, in wire bytes.
    pub(crate) size: Bytes,
    pub(crate) packets: u32,
    pub(crate) arrived: u32,
    pub(crate) arrived_size: Bytes,
    /// The rate for which it was encoded: B when it left.
    pub(crate) aimed: Rate,
    /// R_start and R_end: arrival times of the first and the last packet to arrive.
    pub(crate) first_arrival: Option<Time>,
    pub(crate) last_arrival: Option<Time>,
}

/// Padding sent after the train and before the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Follower {
    id: PacketId,
    known: bool,
    arrival: Option<(Time, Time)>,
}

impl Train {
    pub(super) fn begin(packet: &SentPacket, aimed: Rate) -> Train {
        let mut train = Train {
            first: packet.id,
            frame: packet.place.map(|place| place.frame),
            payload: packet.payload,
            complete: false,
            lost: 0,
            followers: Vec::new(),
            began: packet.at,
            until_next: None,
            size: Bytes::ZERO,
            packets: 0,
            arrived: 0,
            arrived_size: Bytes::ZERO,
            aimed,
            first_arrival: None,
            last_arrival: None,
        };
        train.add(packet);
        train
    }

    /// Returns true if a packet belongs to it: of the same frame or, where frames are not reported, sent within one
    /// interval.
    pub(super) fn takes(&self, packet: &SentPacket, interval: Span) -> bool {
        if packet.payload != self.payload {
            return false;
        }
        match (self.frame, packet.place) {
            (Some(frame), Some(place)) => frame == place.frame,
            (None, None) => packet.at - self.began < interval,
            _ => false,
        }
    }

    pub(super) fn is_newer_than(&self, packet: &SentPacket) -> bool {
        self.frame.zip(packet.place).is_some_and(|(frame, place)| frame > place.frame)
    }

    pub(super) fn add(&mut self, packet: &SentPacket) {
        self.size += packet.size;
        self.packets += 1;
        self.complete = packet.place.is_some_and(|place| place.last);
    }

    pub(super) fn followed_by(&mut self, padding: PacketId) {
        self.followers.push(Follower { id: padding, known: false, arrival: None });
    }

    /// Ends the train because the next one begins.
    pub(super) fn end(&mut self, next: Time) {
        self.complete = true;
        self.until_next = Some(next - self.began);
    }

    pub(super) fn on_report(&mut self, report: &Report) {
        let packet = &report.packet;
        if let Ok(index) = self.followers.binary_search_by_key(&packet.id, |follower| follower.id) {
            let arrival = report.arrival().map(|at| (packet.at, at));
            self.followers[index] = Follower { id: packet.id, known: true, arrival };
            return;
        }
        let frame = packet.place.map(|place| place.frame);
        let ours = packet.payload == self.payload && (self.payload != Payload::Media || frame == self.frame);
        if !ours {
            return;
        }
        match report.fate {
            Fate::Lost => self.lost += 1,
            Fate::Arrived { at, was_lost, .. } => {
                self.lost = self.lost.saturating_sub(u32::from(was_lost));
                self.arrived += 1;
                self.arrived_size += packet.size;
                self.first_arrival = Some(self.first_arrival.map_or(at, |first| first.min(at)));
                self.last_arrival = self.last_arrival.max(Some(at));
            }
        }
    }

    /// Returns true once the train is complete and the outcome of all its packets and of the padding after it is known.
    pub(super) fn is_decided(&self) -> bool {
        self.complete
            && self.arrived + self.lost >= self.packets
            && self.followers.iter().all(|follower| follower.known)
    }

    /// The share of its packets that arrived, 0..=1.
    pub(crate) fn arrived_share(&self) -> f64 {
        f64::from(self.arrived) / f64::from(self.packets.max(1))
    }

    /// Sending and arrival times of the padding that followed it.
    pub(crate) fn followers(&self) -> impl Iterator<Item = (Time, Time)> {
        self.followers.iter().filter_map(|follower| follower.arrival)
    }
}

#[cfg(test)]
impl Train {
    /// A frame of `size` bytes sent from `began` on that arrived between two times, with packets too small to matter.
    pub(crate) fn of_fluid(size: Bytes, aimed: Rate, began: Time, arrivals: (Time, Time)) -> Train {
        let packet = SentPacket::new(PacketId(0), began, Bytes::ZERO);
        let (first_arrival, last_arrival) = (Some(arrivals.0), Some(arrivals.1));
        let all = Train {
            size,
            packets: 100,
            arrived: 100,
            arrived_size: size,
            first_arrival,
            last_arrival,
            ..Train::begin(&packet, aimed)
        };
        Train { complete: true, ..all }
    }
}
