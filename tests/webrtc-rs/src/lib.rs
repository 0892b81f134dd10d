//! Two connections of webrtc-rs over a path in virtual time: ICE, DTLS, SRTP and all.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use rtc::interceptor::Registry;
use rtc::media_stream::MediaStreamTrack;
use rtc::peer_connection::configuration::RTCConfigurationBuilder;
use rtc::peer_connection::configuration::interceptor_registry::register_default_interceptors;
use rtc::peer_connection::configuration::media_engine::{MIME_TYPE_RTX, MIME_TYPE_VP8, MediaEngine};
use rtc::peer_connection::configuration::setting_engine::SettingEngineBuilder;
use rtc::peer_connection::event::RTCPeerConnectionEvent;
use rtc::peer_connection::state::RTCPeerConnectionState;
use rtc::peer_connection::transport::{CandidateConfig, CandidateHostConfig, RTCDtlsRole, RTCIceCandidate};
use rtc::peer_connection::{RTCPeerConnection, RTCPeerConnectionBuilder};
use rtc::rtp;
use rtc::rtp_transceiver::rtp_sender::{
    RTCRtpCodec, RTCRtpCodecParameters, RTCRtpCodingParameters, RTCRtpEncodingParameters, RTCRtpRtxParameters,
    RtpCodecKind,
};
use rtc::sansio::Protocol;
use rtc::shared::{TaggedBytesMut, TransportContext, TransportProtocol};

pub type Error = Box<dyn std::error::Error>;

const TICK: Duration = Duration::from_micros(500);
const FRAME: Duration = Duration::from_micros(33_333);
const MEDIA: u32 = 1111;
const RTX: u32 = 2222;

/// The path between them.
#[derive(Debug, Clone, Copy)]
pub struct Path {
    /// Bit/s, from the sender to the receiver.
    pub capacity: f64,
    pub one_way: Duration,
    /// Seconds of capacity.
    pub queue: f64,
    /// Every datagram whose number this divides is lost.
    pub lost_one_in: Option<u64>,
}

/// A sender's target, asked for again and again, in bit/s.
pub type Target = Box<dyn Fn() -> f64>;

/// What happened after the connection stood.
#[derive(Debug, Default)]
pub struct Seen {
    pub targets: Vec<(f64, f64)>,
    /// Second and bytes of each datagram that arrived, with IP and UDP.
    pub arrived: Vec<(f64, usize)>,
}

impl Seen {
    pub fn reached(&self, target: f64) -> Option<f64> {
        self.targets.iter().find(|(_, reached)| *reached >= target).map(|(at, _)| *at)
    }

    pub fn delivered(&self, from: f64, until: f64) -> f64 {
        let within = self.arrived.iter().filter(|(at, _)| *at >= from && *at < until);
        8.0 * within.map(|(_, size)| size).sum::<usize>() as f64 / (until - from)
    }
}

fn codec(mime_type: &str, fmtp: &str, payload_type: u8) -> RTCRtpCodecParameters {
    let rtp_codec = RTCRtpCodec {
        mime_type: mime_type.to_owned(),
        clock_rate: 90_000,
        channels: 0,
        sdp_fmtp_line: fmtp.to_owned(),
        rtcp_feedback: vec![],
    };
    RTCRtpCodecParameters { rtp_codec, payload_type }
}

/// VP8 and its retransmissions.
pub fn media_engine() -> Result<MediaEngine, Error> {
    let mut engine = MediaEngine::default();
    engine.register_codec(codec(MIME_TYPE_VP8, "", 96), RtpCodecKind::Video)?;
    engine.register_codec(codec(MIME_TYPE_RTX, "apt=96", 97), RtpCodecKind::Video)?;
    Ok(engine)
}

fn peer(
    now: Instant,
    address: SocketAddr,
    role: RTCDtlsRole,
    mut engine: MediaEngine,
    registry: Registry,
) -> Result<RTCPeerConnection, Error> {
    let registry = register_default_interceptors(registry, &mut engine)?;
    let mut peer = RTCPeerConnectionBuilder::new()
        .with_configuration(RTCConfigurationBuilder::new().build())
        .with_setting_engine(SettingEngineBuilder::new().with_answering_dtls_role(role).build())
        .with_media_engine(engine)
        .with_interceptor_registry(registry)
        .build(now)?;
    let base_config = CandidateConfig {
        network: "udp".to_owned(),
        address: address.ip().to_string(),
        port: address.port(),
        component: 1,
        ..Default::default()
    };
    let candidate = CandidateHostConfig { base_config, ..Default::default() }.new_candidate_host()?;
    peer.add_local_candidate(RTCIceCandidate::from(&candidate).to_json()?)?;
    Ok(peer)
}

/// Connects a sender with this registry to a receiver that reports by transport-wide feedback, and sends frames of the size
/// that its target allows for so many seconds.
pub fn play(
    path: Path,
    sender: (Registry, MediaEngine, Target),
    receiver: (Registry, MediaEngine),
    seconds: f64,
) -> Result<Seen, Error> {
    let epoch = Instant::now();
    let addresses: [SocketAddr; 2] = ["127.0.0.1:5000".parse()?, "127.0.0.2:5000".parse()?];
    let (registry, engine, target) = sender;
    let mut peers = [
        peer(epoch, addresses[0], RTCDtlsRole::Server, engine, registry)?,
        peer(epoch, addresses[1], RTCDtlsRole::Client, receiver.1, receiver.0)?,
    ];
    let encoding = RTCRtpEncodingParameters {
        rtp_coding_parameters: RTCRtpCodingParameters {
            ssrc: Some(MEDIA),
            rtx: Some(RTCRtpRtxParameters { ssrc: RTX }),
            ..Default::default()
        },
        codec: codec(MIME_TYPE_VP8, "", 96).rtp_codec,
        ..Default::default()
    };
    let track = MediaStreamTrack::new(
        "stream".to_owned(),
        "track".to_owned(),
        "label".to_owned(),
        RtpCodecKind::Video,
        vec![encoding],
    );
    let track = peers[0].add_track(track)?;
    let offer = peers[0].create_offer(None)?;
    peers[0].set_local_description(epoch, offer.clone())?;
    peers[1].set_remote_description(epoch, offer)?;
    let answer = peers[1].create_answer(None)?;
    peers[1].set_local_description(epoch, answer.clone())?;
    peers[0].set_remote_description(epoch, answer)?;

    let mut seen = Seen::default();
    let mut under_way: [VecDeque<(Duration, BytesMut)>; 2] = Default::default();
    let (mut now, mut free_at, mut sent) = (Duration::ZERO, Duration::ZERO, 0u64);
    let (mut connected, mut next_frame, mut sequence) = ([None; 2], Duration::ZERO, 0u16);
    loop {
        now += TICK;
        let instant = epoch + now;
        let since = connected[0].zip(connected[1]).map(|(one, other): (Duration, Duration)| now - one.max(other));
        if since.is_none() && now > Duration::from_secs(30) {
            return Err("not connected after 30 s".into());
        }
        if since.is_some_and(|since| since.as_secs_f64() >= seconds) {
            return Ok(seen);
        }
        if let Some(since) = since {
            seen.targets.push((since.as_secs_f64(), target()));
            if now >= next_frame {
                next_frame = now + FRAME;
                let mut left = (target() * FRAME.as_secs_f64() / 8.0) as usize;
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
                    peers[0].rtp_sender(track).ok_or("no sender")?.write_rtp(instant, packet)?;
                }
            }
        }
        for (index, peer) in peers.iter_mut().enumerate() {
            if peer.poll_timeout().is_some_and(|due| due <= instant) {
                peer.handle_timeout(instant)?;
            }
            while let Some(event) = peer.poll_event() {
                if let RTCPeerConnectionEvent::OnConnectionStateChangeEvent(RTCPeerConnectionState::Connected) = event {
                    connected[index].get_or_insert(now);
                }
            }
            while peer.poll_read().is_some() {}
            while let Some(msg) = peer.poll_write() {
                let arrives = if index == 0 {
                    sent += 1;
                    let waits = free_at.saturating_sub(now).as_secs_f64();
                    let lost = since.is_some() && path.lost_one_in.is_some_and(|one_in| sent.is_multiple_of(one_in));
                    if waits > path.queue || lost {
                        continue;
                    }
                    let bits = 8.0 * (msg.message.len() + 28) as f64;
                    free_at = free_at.max(now) + Duration::from_secs_f64(bits / path.capacity);
                    free_at + path.one_way
                } else {
                    now + path.one_way
                };
                under_way[1 - index].push_back((arrives, msg.message));
            }
        }
        for (index, peer) in peers.iter_mut().enumerate() {
            while under_way[index].front().is_some_and(|(at, _)| *at <= now) {
                let (_, message) = under_way[index].pop_front().ok_or("nothing under way")?;
                if let Some(since) = since.filter(|_| index == 1) {
                    seen.arrived.push((since.as_secs_f64(), message.len() + 28));
                }
                let transport = TransportContext {
                    local_addr: addresses[index],
                    peer_addr: addresses[1 - index],
                    ecn: None,
                    transport_protocol: TransportProtocol::UDP,
                };
                // What is not understood is not our concern.
                let _ = peer.handle_read(TaggedBytesMut { now: instant, transport, message });
            }
        }
    }
}
