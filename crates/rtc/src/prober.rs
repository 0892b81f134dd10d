//! Probes: recent packets again, on the stream of retransmissions.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rtc_interceptor::{Attribute, AttributedPacket, Packet, StreamInfo, TaggedPacket};
use sansio::Protocol;
use shared::TransportContext;
use shared::error::Error;
use shared::marshal::MarshalSize;
use thalweg_control::Probe;
use thalweg_units::{Bytes, Span};

/// What the controller wants probed, shared with the interceptor that has it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wish(Arc<Mutex<Option<Probe>>>);

impl Wish {
    pub(crate) fn set(&self, probe: Option<Probe>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = probe;
    }

    fn get(&self) -> Option<Probe> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Attached to what leaves during a probe.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Probed {
    pub(crate) cluster: u32,
    /// Whether it only fills.
    pub(crate) padding: bool,
}

/// Sends what a probe needs beside the media that leaves meanwhile: between pacer and congestion control, since it is
/// faster than the pacer.
///
/// It fills by what was sent last, on the stream of retransmissions (RFC 4588): any receiver that negotiated it takes that
/// for a retransmission that came too late. Without such a stream there are no probes. The numbers of that stream are
/// given here, to the answers of the NACK responder too: two packets of one number would be encrypted alike.
pub(crate) struct Prober {
    wish: Wish,
    /// What the wire adds to each packet.
    overhead: Bytes,
    streams: BTreeMap<u32, Stream>,
    probing: Option<Probing>,
    /// The last cluster that began.
    cluster: u32,
    now: Option<Instant>,
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

#[derive(Debug, Clone, Copy)]
struct Probing {
    probe: Probe,
    began: Instant,
    next: Instant,
    sent: Bytes,
    packets: u32,
}

impl Probing {
    fn is_over(&self) -> bool {
        self.packets >= self.probe.packets && self.sent >= self.probe.bytes
    }
}

fn duration(span: Span) -> Duration {
    Duration::from_nanos(u64::try_from(span.as_nanos()).unwrap_or(0))
}

impl Prober {
    pub(crate) fn new(wish: Wish, overhead: Bytes) -> Prober {
        Prober {
            wish,
            overhead,
            streams: BTreeMap::new(),
            probing: None,
            cluster: 0,
            now: None,
            read_queue: VecDeque::new(),
            write_queue: VecDeque::new(),
        }
    }

    /// The probe to begin, if there is something to fill it with.
    fn wanted(&self) -> Option<Probe> {
        let wanted = self.wish.get().filter(|probe| probe.cluster > self.cluster && self.probing.is_none());
        wanted.filter(|_| self.streams.values().any(|stream| stream.recent.is_some()))
    }

    fn begin(&mut self, now: Instant) {
        if let Some(probe) = self.wanted() {
            self.cluster = probe.cluster;
            self.probing = Some(Probing { probe, began: now, next: now, sent: Bytes::ZERO, packets: 0 });
        }
    }

    /// Counts what leaves during a probe, and says so on it.
    fn pass(&mut self, mut msg: TaggedPacket, padding: bool) {
        let Packet::Rtp(packet) = &mut msg.message.packet else { return self.write_queue.push_back(msg) };
        if let Some(stream) = self.streams.values_mut().find(|stream| stream.ssrc == packet.header.ssrc) {
            packet.header.sequence_number = stream.next;
            stream.next = stream.next.wrapping_add(1);
        } else if let Some(stream) = self.streams.get_mut(&packet.header.ssrc) {
            stream.recent = Some(packet.clone());
        }
        let size = Bytes::new(packet.marshal_size() as u64) + self.overhead;
        if let Some(probing) = &mut self.probing {
            probing.sent += size;
            probing.packets += 1;
            probing.next = probing.began + duration(probing.probe.rate.time_for(probing.sent));
            let probed = Probed { cluster: probing.probe.cluster, padding };
            msg.message.add(Attribute::Custom(Arc::new(probed)));
            if probing.is_over() {
                self.probing = None;
            }
        }
        self.write_queue.push_back(msg);
    }

    /// The last packet once more, as an answer to a request for it would be.
    fn filler(&self) -> Option<rtp::Packet> {
        let stream = self.streams.values().find(|stream| stream.recent.is_some())?;
        let recent = stream.recent.as_ref()?;
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

impl Protocol<TaggedPacket, TaggedPacket, ()> for Prober {
    type Rout = TaggedPacket;
    type Wout = TaggedPacket;
    type Eout = ();
    type Error = Error;
    type Time = Instant;

    fn handle_read(&mut self, msg: TaggedPacket) -> Result<(), Error> {
        self.now = Some(msg.now);
        self.read_queue.push_back(msg);
        Ok(())
    }

    fn poll_read(&mut self) -> Option<TaggedPacket> {
        self.read_queue.pop_front()
    }

    fn handle_write(&mut self, msg: TaggedPacket) -> Result<(), Error> {
        self.now = Some(msg.now);
        self.pass(msg, false);
        Ok(())
    }

    fn poll_write(&mut self) -> Option<TaggedPacket> {
        self.write_queue.pop_front()
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), Error> {
        self.now = Some(now);
        self.begin(now);
        // What leaves within one spacing leaves together.
        while self.probing.is_some_and(|probing| probing.next <= now + duration(probing.probe.spacing)) {
            let Some(packet) = self.filler() else { break };
            let message = AttributedPacket::new(Packet::Rtp(packet)).with(Attribute::Retransmission);
            self.pass(TaggedPacket { now, transport: TransportContext::default(), message }, true);
        }
        Ok(())
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        match &self.probing {
            Some(probing) => Some(probing.next),
            None => self.wanted().and(self.now),
        }
    }
}

impl rtc_interceptor::Interceptor for Prober {
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
