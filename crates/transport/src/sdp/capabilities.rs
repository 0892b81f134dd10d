//! Capabilities of this endpoint.

use thalweg_wire::negotiated::Feedback;

use super::h264::H264Profile;

/// Direction of media, seen from this endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// We send: `a=sendonly`.
    SendOnly,
    /// We receive: `a=recvonly`.
    ReceiveOnly,
}

impl Direction {
    /// Its SDP name.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::SendOnly => "sendonly",
            Direction::ReceiveOnly => "recvonly",
        }
    }

    /// The peer's direction.
    pub const fn reverse(self) -> Direction {
        match self {
            Direction::SendOnly => Direction::ReceiveOnly,
            Direction::ReceiveOnly => Direction::SendOnly,
        }
    }
}

/// A video codec with a supported RTP payload format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VideoCodec {
    /// RFC 7741.
    Vp8,
    /// RFC 6184, packetization mode 1 (non-interleaved: single units, aggregates and fragments).
    H264,
    /// RFC 9628, profile 0 (8 bit, 4:2:0).
    Vp9,
    /// AOM's RTP Payload Format For AV1, profile 0 (4:2:0).
    Av1,
}

impl VideoCodec {
    /// Its name in `a=rtpmap`.
    pub const fn name(self) -> &'static str {
        match self {
            VideoCodec::Vp8 => "VP8",
            VideoCodec::H264 => "H264",
            VideoCodec::Vp9 => "VP9",
            VideoCodec::Av1 => "AV1",
        }
    }
}

/// How the receiver reports arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CongestionFeedback {
    /// Transport-wide, on request of a packet (`transport-wide-cc-02`).
    TransportOnRequest,
    /// Per stream, periodically (RFC 8888, `ack ccfb`).
    PerStream,
    /// Transport-wide, periodically (`transport-wide-cc-01`).
    Transport,
    /// Per stream, in extended reports every 200 ms or two round trips, and early after a loss (RFC 3611), from a
    /// receiver of this project.
    Extended,
}

/// Capabilities and preferences of this endpoint: codecs and feedback are in order of preference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// Direction of media.
    pub direction: Direction,
    /// Video codecs; empty for no video.
    pub video: Vec<VideoCodec>,
    /// H.264 profiles. They must be equal at both endpoints (RFC 6184 section 8.2.2), levels need not.
    pub h264: Vec<H264Profile>,
    /// Supports Opus (RFC 7587).
    pub audio: bool,
    /// Supports retransmissions in a separate stream (RFC 4588).
    pub retransmission: bool,
    /// Supports FEC packets in a separate stream: `flexfec-03`, the draft that libwebrtc implements, not RFC 8627.
    pub fec: bool,
    /// Supports RED with ULPFEC in the media stream (RFC 2198, RFC 5109): negotiated only where `flexfec-03`, which
    /// keeps FEC separate, is not.
    pub redundancy: bool,
    /// Kinds of congestion feedback; an answer uses the first one that is also in the offer. The default order is by
    /// how often Chromium 156 reports: immediately on request, RFC 8888 every 31 ms, transport-wide periodically every
    /// 62 ms; it does not support extended reports.
    pub congestion: Vec<CongestionFeedback>,
    /// Video feedback: `nack`, `pli`, `fir`, `bitrate`, `round_trip`, `path` and `frames`; the other fields follow from
    /// `congestion`.
    pub feedback: Feedback,
    /// Lets the sender send playout delays.
    pub playout_delay: bool,
    /// Lets packets carry their send time, in 24 bits.
    pub absolute_send_time: bool,
    /// Lets packets carry their section's MID, for receivers that identify streams by it and not by SSRC.
    pub mid: bool,
    /// Supports the extensions of functional video, [`FRAGMENT_GRACE`] and [`FRAME_STATES`], for a receiver of this
    /// project.
    ///
    /// [`FRAGMENT_GRACE`]: thalweg_wire::rtp::uri::FRAGMENT_GRACE
    /// [`FRAME_STATES`]: thalweg_wire::rtp::uri::FRAME_STATES
    pub functional: bool,
    /// Lets packets carry the references of layered frames, for receivers and relays of any codec
    /// ([`DEPENDENCY_DESCRIPTOR`]).
    ///
    /// [`DEPENDENCY_DESCRIPTOR`]: thalweg_wire::rtp::uri::DEPENDENCY_DESCRIPTOR
    pub dependencies: bool,
    /// Lets packets carry the count of bytes sent before them ([`BYTES_BEFORE`]), from which a receiver of this project
    /// measures the path.
    ///
    /// [`BYTES_BEFORE`]: thalweg_wire::rtp::uri::BYTES_BEFORE
    pub bytes_before: bool,
}

impl Capabilities {
    /// All supported capabilities, with VP8 before H.264 before VP9; AV1 only where it is added, because not every
    /// machine decodes it.
    pub fn all(direction: Direction) -> Capabilities {
        Capabilities {
            direction,
            video: vec![VideoCodec::Vp8, VideoCodec::H264, VideoCodec::Vp9],
            h264: vec![H264Profile::ConstrainedBaseline, H264Profile::Main, H264Profile::High],
            audio: true,
            retransmission: true,
            fec: true,
            redundancy: true,
            congestion: vec![
                CongestionFeedback::TransportOnRequest,
                CongestionFeedback::PerStream,
                CongestionFeedback::Transport,
                CongestionFeedback::Extended,
            ],
            feedback: Feedback {
                nack: true,
                pli: true,
                fir: true,
                bitrate: true,
                round_trip: true,
                path: true,
                frames: true,
                ..Feedback::default()
            },
            playout_delay: true,
            absolute_send_time: true,
            mid: true,
            functional: true,
            dependencies: true,
            bytes_before: true,
        }
    }
}
