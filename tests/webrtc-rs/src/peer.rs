//! One end of a call.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use rtc::interceptor::Registry;
use rtc::media_stream::MediaStreamTrack;
use rtc::peer_connection::configuration::RTCConfigurationBuilder;
use rtc::peer_connection::configuration::interceptor_registry::register_default_interceptors;
use rtc::peer_connection::configuration::media_engine::{MIME_TYPE_RTX, MIME_TYPE_VP8, MediaEngine};
use rtc::peer_connection::configuration::setting_engine::SettingEngineBuilder;
use rtc::peer_connection::transport::{CandidateConfig, CandidateHostConfig, RTCDtlsRole, RTCIceCandidate};
use rtc::peer_connection::{RTCPeerConnection, RTCPeerConnectionBuilder};
use rtc::rtp;
use rtc::rtp_transceiver::RTCRtpSenderId;
use rtc::rtp_transceiver::rtp_sender::{
    RTCRtpCodec, RTCRtpCodecParameters, RTCRtpCodingParameters, RTCRtpEncodingParameters, RTCRtpRtxParameters,
    RtpCodecKind,
};

pub type Error = Box<dyn std::error::Error>;

/// A sender's target, asked for again and again, in bit/s.
pub type Target = Box<dyn Fn() -> f64>;

/// How often a timer, a socket and a path are looked at.
pub const TICK: Duration = Duration::from_micros(500);
const FRAME: Duration = Duration::from_micros(33_333);
const MEDIA: u32 = 1111;
const RTX: u32 = 2222;

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

/// An end at this address.
pub fn peer(
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

/// A camera and an encoder that meets its target exactly.
pub struct Camera {
    track: RTCRtpSenderId,
    next: Duration,
    sequence: u16,
}

impl Camera {
    /// Adds a track to a connection.
    pub fn new(peer: &mut RTCPeerConnection) -> Result<Camera, Error> {
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
        Ok(Camera { track: peer.add_track(track)?, next: Duration::ZERO, sequence: 0 })
    }

    /// Writes a frame, if one is due at `now`, of the size that this many bit/s allow.
    pub fn capture(
        &mut self,
        peer: &mut RTCPeerConnection,
        epoch: Instant,
        now: Duration,
        target: f64,
    ) -> Result<(), Error> {
        if now < self.next {
            return Ok(());
        }
        self.next = now + FRAME;
        let mut left = (target * FRAME.as_secs_f64() / 8.0) as usize;
        while left > 0 {
            let size = left.min(1188);
            left -= size;
            let header = rtp::header::Header {
                version: 2,
                payload_type: 96,
                sequence_number: self.sequence,
                timestamp: (now.as_millis() * 90) as u32,
                ssrc: MEDIA,
                marker: left == 0,
                ..Default::default()
            };
            self.sequence = self.sequence.wrapping_add(1);
            let packet = rtp::Packet { header, payload: vec![0u8; size].into() };
            peer.rtp_sender(self.track).ok_or("no sender")?.write_rtp(epoch + now, packet)?;
        }
        Ok(())
    }
}
