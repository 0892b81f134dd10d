//! How large a bound makes each frame, from what it knows of the link.

use std::collections::VecDeque;

use thalweg_netsim::trace::OPPORTUNITY;
use thalweg_types::PacketSizes;
use thalweg_units::{Bytes, Rate, Size, Span, Time};

use super::known::Known;
use super::link::Server;
use super::{Causal, Kind};

/// The most that an encoder makes, for every scheme (specs/vidaptive.md: 12 Mbps).
const MAX_RATE: Rate = Rate::from_kbps(12_000);

/// A frame that is not yet known to be through.
#[derive(Debug, Clone)]
struct Sent {
    /// When it reached the link.
    arrived: Time,
    size: Bytes,
    through: Time,
    /// The link before it.
    before: Server,
}

/// The sizes of frames in order, and when they are through the link.
#[derive(Debug, Clone)]
pub(super) struct Aim {
    kind: Kind,
    known: Known,
    sizes: PacketSizes,
    encode: Span,
    under_way: VecDeque<Sent>,
    /// When the link has served, as far as is known, what was sent.
    free: Time,
}

impl Aim {
    /// For pictures of this size.
    pub(super) fn new(kind: Kind, known: &Known, size: Size) -> Aim {
        let (sizes, under_way) = (PacketSizes::default(), VecDeque::new());
        Aim { kind, known: known.clone(), sizes, encode: known.encode(size), under_way, free: Time::ZERO }
    }

    /// Payload of the frame that is encoded from `now` on of a picture captured at `captured`; zero if it is skipped.
    pub(super) fn payload(&mut self, now: Time, captured: Time, interval: Span) -> Bytes {
        let (arrives, due) = (now + self.encode + self.known.before, captured + self.known.before);
        let room = match self.kind {
            Kind::Omniscient { within } => self.known.link.room(arrives, due + within),
            Kind::Causal(causal) => self.expected(causal, now, arrives, due + causal.budget),
        };
        let full = self.sizes.max_payload + self.known.overhead(&self.sizes);
        let packets = room.get().div_ceil(full.get());
        let of = |packets: u64| {
            let payload = room.saturating_sub(self.known.overhead(&self.sizes) * packets);
            payload.min(self.sizes.max_payload * packets)
        };
        // The last packet may be all headers.
        of(packets).max(of(packets.saturating_sub(1))).min(MAX_RATE.over(interval))
    }

    /// Bytes likely to be carried up to `due` for a frame that arrives at `arrives`: the rate is the lesser mean of the
    /// past, times the gain, and what is under way is served at it from the last known moment on.
    fn expected(&mut self, causal: Causal, now: Time, arrives: Time, due: Time) -> Bytes {
        let blind = self.known.after + self.known.back.unwrap_or_default();
        let seen = now - blind;
        while self.under_way.front().is_some_and(|sent| sent.through <= seen) {
            self.under_way.pop_front();
        }
        let mean = |window: Span| self.known.link.carries(seen - window, seen).per(window);
        let rate = mean(causal.windows[0]).min(mean(causal.windows[1])).scale(causal.gain);
        if rate == Rate::ZERO {
            return Bytes::ZERO;
        }
        let mut free = seen;
        for sent in &self.under_way {
            // Of the first its part that is known to be through; the others follow it.
            let through = if sent.arrived < seen { sent.before.room(sent.arrived, seen) } else { Bytes::ZERO };
            free = free.max(sent.arrived) + rate.time_for(sent.size.saturating_sub(through));
        }
        let room = rate.over(due - free.max(arrives));
        self.free = free;
        match room < OPPORTUNITY {
            // What nothing is in the way of may be late.
            true if free <= arrives => OPPORTUNITY,
            true => Bytes::ZERO,
            false => room,
        }
    }

    /// A frame leaves the sender at `now`; returns when it is through the link.
    pub(super) fn sent(&mut self, now: Time, payload: Bytes, packets: u16) -> Time {
        let (arrived, before) = (now + self.known.before, self.known.link.clone());
        let size = payload + self.known.overhead(&self.sizes) * u64::from(packets);
        let through = self.known.link.take(arrived, size);
        match self.kind {
            Kind::Causal(_) => self.under_way.push_back(Sent { arrived, size, through, before }),
            Kind::Omniscient { .. } => self.free = through,
        }
        through
    }

    /// Returns true if nothing is in the way of a frame that leaves the sender at `now`, as far as is known.
    pub(super) fn is_free(&self, now: Time) -> bool {
        self.free <= now + self.known.before
    }

    /// The number of packets of a frame.
    pub(super) fn packets(&self, payload: Bytes) -> u16 {
        self.sizes.cut(payload, None).packets
    }

    pub(super) fn encode(&self) -> Span {
        self.encode
    }
}
