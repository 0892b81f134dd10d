//! Padding: recent packets again, on the stream of retransmissions.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rtc_interceptor::{Attribute, AttributedPacket, Packet, StreamInfo, TaggedPacket};
use sansio::Protocol;
use shared::TransportContext;
use shared::error::Error;
use shared::marshal::MarshalSize;
use thalweg_control::{PaddingLimit, Probe};
use thalweg_driver::Driver;
use thalweg_sender::Prober;
use thalweg_sender::padding::Continuous;
use thalweg_units::{Bytes, Time};

use crate::clock::Clock;

/// Padding that the controller wants, shared with the interceptor that has it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked(Arc<Mutex<Wanted>>);

#[derive(Debug, Clone, Copy, Default)]
struct Wanted {
    probe: Option<Probe>,
    padding: PaddingLimit,
    /// Room in the window; `None` without a window.
    room: Option<Bytes>,
}

impl Asked {
    /// Records the padding that this controller wants now.
    pub(crate) fn set(&self, driver: &Driver) {
        let limits = driver.limits();
        let room = limits.window.map(|window| window.saturating_sub(driver.stats().in_flight));
        // What is wanted beside media are tiny packets between frames (Pudica's probes), and here a packet is a whole one.
        let padding = if limits.padding.counts_media() { limits.padding } else { PaddingLimit::None };
        *self.lock() = Wanted { probe: limits.probe, padding, room };
    }

    fn get(&self) -> Wanted {
        *self.lock()
    }

    /// A packet leaves, and takes room until the controller says anew how much there is.
    fn take(&self, size: Bytes) {
        let mut wanted = self.lock();
        wanted.room = wanted.room.map(|room| room.saturating_sub(size));
    }

    fn lock(&self) -> MutexGuard<'_, Wanted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Attached to padding, and to what leaves during a probe.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Filled {
    /// The probe cluster.
    pub(crate) probe: Option<u32>,
    /// True for a packet without media, which only fills.
    pub(crate) padding: bool,
}

/// Sends what a probe needs beside the media that leaves meanwhile, and the padding that the controller wants besides:
/// between pacer and congestion control, since a probe is faster than the pacer.
///
/// It pads by what was sent last, on the stream of retransmissions (RFC 4588): any receiver that negotiated it takes that
/// for a retransmission that came too late. Without such a stream there is no padding. The numbers of that stream are
/// given here, to the answers of the NACK responder too: two packets of one number would be encrypted alike.
pub(crate) struct Padder {
    asked: Asked,
    /// Bytes that the wire adds to each packet.
    overhead: Bytes,
    streams: BTreeMap<u32, Stream>,
    clock: Clock,
    now: Time,
    prober: Prober,
    continuous: Continuous,
    read_queue: VecDeque<TaggedPacket>,
    write_queue: VecDeque<TaggedPacket>,
}

/// A stream of retransmissions, by the stream that it repairs.
#[derive(Debug)]
struct Stream {
    ssrc: u32,
    payload_type: u8,
    next: u16,
    /// The packet of the other stream that left last.
    recent: Option<rtp::Packet>,
}

impl Padder {
    pub(crate) fn new(asked: Asked, overhead: Bytes) -> Padder {
        Padder {
            asked,
            overhead,
            streams: BTreeMap::new(),
            clock: Clock::default(),
            now: Time::ZERO,
            prober: Prober::default(),
            continuous: Continuous::default(),
            read_queue: VecDeque::new(),
            write_queue: VecDeque::new(),
        }
    }

    /// Follows the controller's wishes, as far as there is something to pad with.
    fn follow(&mut self, now: Instant) {
        self.now = self.clock.time(now);
        let wanted = self.asked.get();
        self.continuous.set_limit(self.now, wanted.padding);
        self.prober.expire(self.now);
        if let Some(probe) = wanted.probe
            && self.source().is_some()
        {
            self.prober.begin(self.now, probe);
        }
    }

    /// When the next padding leaves.
    fn due(&self) -> Time {
        let Some((_, recent)) = self.source() else { return Time::NEVER };
        if self.prober.cluster().is_some() {
            return self.prober.next_send();
        }
        let full = self.asked.get().room.is_some_and(|room| room < self.size(recent));
        if full { Time::NEVER } else { self.continuous.next_send() }
    }

    fn size(&self, packet: &rtp::Packet) -> Bytes {
        Bytes::new(packet.marshal_size() as u64) + self.overhead
    }

    /// Counts what leaves, numbers retransmissions, and says what is padding and what belongs to a probe.
    fn pass(&mut self, mut msg: TaggedPacket, padding: bool) {
        let Packet::Rtp(packet) = &mut msg.message.packet else { return self.write_queue.push_back(msg) };
        if let Some(stream) = self.streams.values_mut().find(|stream| stream.ssrc == packet.header.ssrc) {
            packet.header.sequence_number = stream.next;
            stream.next = stream.next.wrapping_add(1);
        } else if let Some(stream) = self.streams.get_mut(&packet.header.ssrc) {
            stream.recent = Some(packet.clone());
        }
        let size = self.size(packet);
        self.asked.take(size);
        self.continuous.on_sent(self.now, size, padding);
        let probe = self.prober.cluster();
        self.prober.on_sent(self.now, size);
        if probe.is_some() || padding {
            msg.message.add(Attribute::Custom(Arc::new(Filled { probe, padding })));
        }
        self.write_queue.push_back(msg);
    }

    /// The packet that can be sent again.
    fn source(&self) -> Option<(&Stream, &rtp::Packet)> {
        self.streams.values().find_map(|stream| Some((stream, stream.recent.as_ref()?)))
    }

    /// The last packet once more, as an answer to a request for it would be.
    fn filler(&self) -> Option<rtp::Packet> {
        let (stream, recent) = self.source()?;
        let original = recent.header.sequence_number.to_be_bytes();
        let payload: Vec<u8> = original.iter().chain(recent.payload.iter()).copied().collect();
        let header = rtp::header::Header {
            version: 2,
            ssrc: stream.ssrc,
            payload_type: stream.payload_type,
            timestamp: recent.header.timestamp,
            marker: recent.header.marker,
            ..Default::default()
        };
        Some(rtp::Packet { header, payload: payload.into() })
    }
}

impl Protocol<TaggedPacket, TaggedPacket, ()> for Padder {
    type Rout = TaggedPacket;
    type Wout = TaggedPacket;
    type Eout = ();
    type Error = Error;
    type Time = Instant;

    fn handle_read(&mut self, msg: TaggedPacket) -> Result<(), Error> {
        self.follow(msg.now);
        self.read_queue.push_back(msg);
        Ok(())
    }

    fn poll_read(&mut self) -> Option<TaggedPacket> {
        self.read_queue.pop_front()
    }

    fn handle_write(&mut self, msg: TaggedPacket) -> Result<(), Error> {
        self.follow(msg.now);
        self.pass(msg, false);
        Ok(())
    }

    fn poll_write(&mut self) -> Option<TaggedPacket> {
        self.write_queue.pop_front()
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), Error> {
        self.follow(now);
        while self.due() <= self.now {
            let Some(packet) = self.filler() else { break };
            let message = AttributedPacket::new(Packet::Rtp(packet)).with(Attribute::Retransmission);
            self.pass(TaggedPacket { now, transport: TransportContext::default(), message }, true);
        }
        Ok(())
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        self.clock.instant(self.due())
    }
}

impl rtc_interceptor::Interceptor for Padder {
    fn bind_local_stream(&mut self, info: &StreamInfo) {
        if let Some((ssrc, payload_type)) = info.ssrc_rtx.zip(info.payload_type_rtx) {
            self.streams.insert(info.ssrc, Stream { ssrc, payload_type, next: 0, recent: None });
        }
    }

    fn unbind_local_stream(&mut self, info: &StreamInfo) {
        self.streams.remove(&info.ssrc);
    }

    fn bind_remote_stream(&mut self, _info: &StreamInfo) {}

    fn unbind_remote_stream(&mut self, _info: &StreamInfo) {}
}
