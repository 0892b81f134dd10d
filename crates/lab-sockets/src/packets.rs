//! The packets of a program that is known from outside alone, as records of the laboratory.

use std::collections::BTreeMap;

use thalweg_control::{PacketId, Payload};
use thalweg_emulate::Packet;
use thalweg_lab::record::What;
use thalweg_netsim::DropReason;
use thalweg_sender::Event;
use thalweg_units::{Bytes, Time};

/// The packets of a frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent {
    pub(crate) first: Time,
    pub(crate) last: Time,
    pub(crate) bytes: Bytes,
    pub(crate) packets: u16,
}

/// Notes each packet as it was sent, and as it arrived or was dropped, `why`. `kind` says what a packet is for.
pub(crate) fn note(
    all: &[Packet],
    kind: impl Fn(&Packet) -> Payload,
    why: DropReason,
    note: &mut impl FnMut(Time, What),
) {
    let transit = |packet: &Packet| packet.arrived.map(|at| at - packet.sent);
    let shortest = all.iter().filter_map(transit).min().unwrap_or_default();
    // A packet that was overtaken is lost; the last ones may still be on the link.
    let mut overtaken: Option<Time> = None;
    let lost_at = all.iter().rev().map(|packet| {
        let at = overtaken;
        overtaken = [packet.arrived, overtaken].into_iter().flatten().min();
        at
    });
    let mut lost_at: Vec<Option<Time>> = lost_at.collect();
    lost_at.reverse();
    let mut on_the_link: BTreeMap<(Time, u64), Bytes> = BTreeMap::new();
    let mut in_flight = Bytes::ZERO;
    for ((id, packet), lost_at) in (0..).zip(all).zip(lost_at) {
        while let Some(entry) = on_the_link.first_entry().filter(|entry| entry.key().0 <= packet.sent) {
            in_flight -= entry.remove();
        }
        let (payload, size) = (kind(packet), packet.size);
        in_flight += size;
        let sent = Event::PacketSent { id: PacketId(id), payload, size, in_flight, repeats: None };
        note(packet.sent, What::Sender(sent));
        if let Some(gone) = packet.arrived.or(lost_at) {
            on_the_link.insert((gone, id), size);
        }
        match (transit(packet), lost_at) {
            (Some(transit), _) => {
                note(
                    packet.sent + transit,
                    What::Arrived { id, payload, size, queued: transit - shortest, marked: None },
                );
            }
            (None, Some(at)) => note(at, What::Dropped { id, payload, size, why }),
            (None, None) => {}
        }
    }
}

/// The first transmissions of each frame, by its RTP timestamp; `tag` is what SRTP appends to each packet.
pub(crate) fn by_timestamp(all: &[Packet], kind: impl Fn(&Packet) -> Payload, tag: Bytes) -> BTreeMap<u32, Sent> {
    let mut frames: BTreeMap<u32, Sent> = BTreeMap::new();
    for packet in all.iter().filter(|packet| kind(packet) == Payload::Media) {
        let nothing = Sent { first: packet.sent, last: packet.sent, bytes: Bytes::ZERO, packets: 0 };
        let frame = frames.entry(packet.timestamp).or_insert(nothing);
        frame.last = packet.sent;
        frame.bytes += packet.payload.saturating_sub(tag);
        frame.packets += 1;
    }
    frames
}
