//! Two unmodified chains of webrtc-rs, a sender's and a receiver's, over a path in virtual time.
#![allow(dead_code)]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rtc_interceptor::{
    Attribute, AttributedPacket, Interceptor, NackGeneratorBuilder, NackResponderBuilder, Packet, RTCPFeedback,
    RTPHeaderExtension, Registry, Rfc8888Builder, Slot, StreamInfo, TaggedPacket, TwccReceiverBuilder,
};
use sansio::Protocol;
use shared::TransportContext;
use shared::error::Error;
use shared::marshal::MarshalSize;
use thalweg_webrtc_rs::Feedback;

const MEDIA: u32 = 7;
const RTX: u32 = 8;
const TICK: Duration = Duration::from_micros(500);
const FRAME: Duration = Duration::from_micros(33_333);
const TWCC: &str = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01";
/// IPv4, UDP and SRTP's tag.
const OVERHEAD: usize = 38;

/// The path, and what the application makes of its target.
#[derive(Debug, Clone, Copy)]
pub struct World {
    /// Bit/s.
    pub capacity: f64,
    pub one_way: Duration,
    /// Seconds of capacity.
    pub queue: f64,
    /// Every packet whose number this divides is lost.
    pub lost_one_in: Option<u64>,
    /// When the path carries nothing, both ways.
    pub outage: Option<(Duration, Duration)>,
    pub start: f64,
    /// The application sends at most this, whatever its target.
    pub most: f64,
    pub duration: Duration,
}

impl World {
    /// 3 Mbps with 40 ms and a second of queue, from 300 kbps, for 30 s.
    pub fn steady() -> World {
        World {
            capacity: 3e6,
            one_way: Duration::from_millis(20),
            queue: 1.0,
            lost_one_in: None,
            outage: None,
            start: 3e5,
            most: f64::INFINITY,
            duration: Duration::from_secs(30),
        }
    }
}

/// Record of a call.
#[derive(Debug, Default, Clone)]
pub struct Seen {
    /// The targets that the application received, in bit/s.
    pub targets: Vec<(Duration, f64)>,
    /// Media and other bytes that arrived, on the wire.
    pub arrived: Vec<(Duration, usize)>,
    pub media: u64,
    pub padding: u64,
    /// The sequence numbers of retransmissions as they left.
    pub rtx: Vec<u16>,
    pub lost: u64,
    pub longest_queue: f64,
}

impl Seen {
    /// When the target first was at least this.
    pub fn reached(&self, target: f64) -> Option<f64> {
        self.targets.iter().find(|(_, reached)| *reached >= target).map(|(at, _)| at.as_secs_f64())
    }

    /// The mean target of these seconds, each target until the next.
    pub fn mean(&self, from: f64, until: f64) -> f64 {
        let ends = self.targets.iter().skip(1).map(|(at, _)| at.as_secs_f64()).chain([until]);
        let spent = self
            .targets
            .iter()
            .zip(ends)
            .map(|((at, target), end)| target * (end.min(until) - at.as_secs_f64().max(from)).max(0.0));
        spent.sum::<f64>() / (until - from)
    }

    /// The bit/s that arrived in these seconds.
    pub fn delivered(&self, from: f64, until: f64) -> f64 {
        let within = |at: &Duration| at.as_secs_f64() >= from && at.as_secs_f64() < until;
        let bytes: usize = self.arrived.iter().filter(|(at, _)| within(at)).map(|(_, size)| size).sum();
        8.0 * bytes as f64 / (until - from)
    }
}

/// Notes what the application receives, where its pacer reads it.
struct Observer {
    target: Arc<Mutex<Option<f64>>>,
    read: VecDeque<TaggedPacket>,
    write: VecDeque<TaggedPacket>,
}

impl Protocol<TaggedPacket, TaggedPacket, ()> for Observer {
    type Rout = TaggedPacket;
    type Wout = TaggedPacket;
    type Eout = ();
    type Error = Error;
    type Time = Instant;

    fn handle_read(&mut self, msg: TaggedPacket) -> Result<(), Error> {
        let wanted = Attribute::TargetBitrateChanged { bits_per_second: 0.0 };
        if let Some(Attribute::TargetBitrateChanged { bits_per_second }) = msg.message.get(&wanted) {
            *self.target.lock().unwrap() = Some(*bits_per_second);
        }
        self.read.push_back(msg);
        Ok(())
    }
    fn poll_read(&mut self) -> Option<TaggedPacket> {
        self.read.pop_front()
    }
    fn handle_write(&mut self, msg: TaggedPacket) -> Result<(), Error> {
        self.write.push_back(msg);
        Ok(())
    }
    fn poll_write(&mut self) -> Option<TaggedPacket> {
        self.write.pop_front()
    }
}

impl Interceptor for Observer {
    fn bind_local_stream(&mut self, _: &StreamInfo) {}
    fn unbind_local_stream(&mut self, _: &StreamInfo) {}
    fn bind_remote_stream(&mut self, _: &StreamInfo) {}
    fn unbind_remote_stream(&mut self, _: &StreamInfo) {}
}

fn stream(ssrc: u32, rtx: Option<u32>, feedback: Feedback) -> StreamInfo {
    let typed = |typ: &str, parameter: &str| RTCPFeedback { typ: typ.into(), parameter: parameter.into() };
    let (congestion, rtp_header_extensions) = match feedback {
        Feedback::Twcc => (typed("transport-cc", ""), vec![RTPHeaderExtension { uri: TWCC.into(), id: 5 }]),
        Feedback::Rfc8888 => (typed("ack", "ccfb"), Vec::new()),
    };
    StreamInfo {
        ssrc,
        ssrc_rtx: rtx,
        payload_type: 96,
        payload_type_rtx: rtx.map(|_| 97),
        rtp_header_extensions,
        mime_type: "video/VP8".into(),
        clock_rate: 90_000,
        rtcp_feedback: vec![typed("nack", ""), congestion],
        ..StreamInfo::default()
    }
}

#[expect(clippy::disallowed_methods, reason = "an Instant can be had in no other way")]
fn epoch() -> Instant {
    Instant::now()
}

fn tagged(now: Instant, packet: Packet) -> TaggedPacket {
    TaggedPacket { now, transport: TransportContext::default(), message: AttributedPacket::new(packet) }
}

/// Plays a sender's registry, to which the rest of a chain is added.
pub fn play(world: &World, registry: Registry, feedback: Feedback) -> Seen {
    let announced = Arc::new(Mutex::new(Some(world.start)));
    let observer = Observer { target: announced.clone(), read: VecDeque::new(), write: VecDeque::new() };
    let mut sender = registry
        .with(Slot::from(3_500), observer)
        .with(Slot::NackResponder, NackResponderBuilder::new().build())
        .build();
    let receiver = Registry::new().with(Slot::NackGenerator, NackGeneratorBuilder::new().build());
    let mut receiver = match feedback {
        Feedback::Twcc => receiver.with(Slot::TwccReceiver, TwccReceiverBuilder::new().build()),
        Feedback::Rfc8888 => receiver.with(Slot::Rfc8888, Rfc8888Builder::new().build()),
    }
    .build();
    sender.bind_local_stream(&stream(MEDIA, Some(RTX), feedback));
    receiver.bind_remote_stream(&stream(MEDIA, Some(RTX), feedback));
    receiver.bind_remote_stream(&stream(RTX, None, feedback));

    let epoch = epoch();
    let (mut seen, mut target) = (Seen::default(), world.start);
    let mut under_way: VecDeque<(Duration, rtp::Packet)> = VecDeque::new();
    let mut back: VecDeque<(Duration, Vec<Box<dyn rtcp::Packet>>)> = VecDeque::new();
    let (mut free_at, mut next_frame, mut sequence, mut sent) = (Duration::ZERO, Duration::ZERO, 0u16, 0u64);
    let mut now = Duration::ZERO;
    let dead = |at: Duration| world.outage.is_some_and(|(from, until)| at >= from && at < until);
    while now < world.duration {
        now += TICK;
        let instant = epoch + now;
        if let Some(new) = announced.lock().unwrap().take() {
            target = new;
            seen.targets.push((now, new));
        }
        while now >= next_frame {
            next_frame += FRAME;
            let mut left = (target.min(world.most) * FRAME.as_secs_f64() / 8.0) as usize;
            while left > 0 {
                let size = left.min(1188);
                left -= size;
                let header = rtp::header::Header {
                    version: 2,
                    payload_type: 96,
                    sequence_number: sequence,
                    timestamp: (now.as_millis() * 90) as u32,
                    ssrc: MEDIA,
                    marker: left == 0,
                    ..Default::default()
                };
                sequence = sequence.wrapping_add(1);
                let packet = rtp::Packet { header, payload: vec![0u8; size].into() };
                sender.handle_write(tagged(instant, Packet::Rtp(packet))).unwrap();
            }
        }
        for chain in [&mut sender, &mut receiver] {
            if chain.poll_timeout().is_some_and(|due| due <= instant) {
                chain.handle_timeout(instant).unwrap();
            }
        }
        while let Some(msg) = sender.poll_write() {
            let Packet::Rtp(packet) = msg.message.packet else { continue };
            if packet.header.ssrc == RTX {
                seen.padding += 1;
                seen.rtx.push(packet.header.sequence_number);
            } else {
                seen.media += 1;
            }
            sent += 1;
            let bits = 8.0 * (packet.marshal_size() + OVERHEAD) as f64;
            let waits = free_at.saturating_sub(now).as_secs_f64();
            seen.longest_queue = seen.longest_queue.max(waits);
            let dropped = world.lost_one_in.is_some_and(|one_in| sent.is_multiple_of(one_in));
            if dropped || waits > world.queue || dead(now) {
                seen.lost += 1;
                continue;
            }
            free_at = free_at.max(now) + Duration::from_secs_f64(bits / world.capacity);
            under_way.push_back((free_at + world.one_way, packet));
        }
        while let Some((at, packet)) = under_way.front().cloned().filter(|(at, _)| *at <= now) {
            under_way.pop_front();
            seen.arrived.push((at, packet.marshal_size() + OVERHEAD));
            receiver.handle_read(tagged(instant, Packet::Rtp(packet))).unwrap();
            while receiver.poll_read().is_some() {}
        }
        while let Some(msg) = receiver.poll_write() {
            if let Packet::Rtcp(packets) = msg.message.packet
                && !dead(now)
            {
                back.push_back((now + world.one_way, packets));
            }
        }
        while back.front().is_some_and(|(at, _)| *at <= now) {
            let (_, packets) = back.pop_front().unwrap();
            sender.handle_read(tagged(instant, Packet::Rtcp(packets))).unwrap();
        }
        while sender.poll_read().is_some() {}
    }
    seen
}
