//! What this end can do.

use thalweg_wire::negotiated::Feedback;

use super::h264::H264Profile;

/// Which way media goes, seen from this end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From here: `a=sendonly`.
    SendOnly,
    /// To here: `a=recvonly`.
    ReceiveOnly,
}

impl Direction {
    /// As SDP writes it.
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

/// A video codec with an RTP payload format known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VideoCodec {
    /// RFC 7741.
    Vp8,
    /// RFC 6184, packetization mode 1 (non-interleaved: single units, aggregates and fragments).
    H264,
    /// RFC 9628, profile 0 (8 bit, 4:2:0).
    Vp9,
}

impl VideoCodec {
    /// As `a=rtpmap` writes it.
    pub const fn name(self) -> &'static str {
        match self {
            VideoCodec::Vp8 => "VP8",
            VideoCodec::H264 => "H264",
            VideoCodec::Vp9 => "VP9",
        }
    }
}

/// How the receiver tells what arrived when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CongestionFeedback {
    /// Transport-wide, when a packet asks for it (`transport-wide-cc-02`).
    TransportOnRequest,
    /// For each stream, at the receiver's pace (RFC 8888, `ack ccfb`).
    PerStream,
    /// Transport-wide, at the receiver's pace (`transport-wide-cc-01`).
    Transport,
    /// For each stream, in extended reports every 200 ms or two round trips and early when something is lost (RFC 3611), by a receiver of this
    /// project.
    Extended,
}

/// What this end can do, and would rather do: codecs and feedback in order of preference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// Which way media goes.
    pub direction: Direction,
    /// Video codecs; none: no video.
    pub video: Vec<VideoCodec>,
    /// Profiles of H.264. They must be equal at both ends (RFC 6184 section 8.2.2), levels need not.
    pub h264: Vec<H264Profile>,
    /// Opus (RFC 7587).
    pub audio: bool,
    /// Retransmissions on a stream of their own (RFC 4588).
    pub retransmission: bool,
    /// FEC packets on a stream of their own: `flexfec-03`, the draft that libwebrtc speaks, not RFC 8627.
    pub fec: bool,
    /// RED and ULPFEC in it, among the media (RFC 2198, RFC 5109): agreed on only where `flexfec-03` is not, which keeps FEC apart.
    pub redundancy: bool,
    /// Kinds of congestion feedback; an answer names the first that the offer has too. The default order is by how often
    /// Chromium 156 reports: on request at once, RFC 8888 every 31 ms, at its own pace every 62 ms; extended reports it has none.
    pub congestion: Vec<CongestionFeedback>,
    /// `nack`, `pli`, `fir`, `bitrate`, `round_trip` and `path`, of video; the rest follows from `congestion`.
    pub feedback: Feedback,
    /// The sender may say how long the receiver should hold frames.
    pub playout_delay: bool,
    /// When each packet left, in 24 bits.
    pub absolute_send_time: bool,
    /// Which section each packet belongs to, for receivers that go by it and not by SSRCs.
    pub mid: bool,
    /// Elements of functional video, [`FRAGMENT_GRACE`] and [`FRAME_STATES`], for a receiver of this project.
    ///
    /// [`FRAGMENT_GRACE`]: thalweg_wire::rtp::uri::FRAGMENT_GRACE
    /// [`FRAME_STATES`]: thalweg_wire::rtp::uri::FRAME_STATES
    pub functional: bool,
    /// What frames in layers refer to, for receivers and relays of any codec ([`DEPENDENCY_DESCRIPTOR`]).
    ///
    /// [`DEPENDENCY_DESCRIPTOR`]: thalweg_wire::rtp::uri::DEPENDENCY_DESCRIPTOR
    pub dependencies: bool,
    /// How much was sent before each packet ([`BYTES_BEFORE`]), by which a receiver of this project measures the path.
    ///
    /// [`BYTES_BEFORE`]: thalweg_wire::rtp::uri::BYTES_BEFORE
    pub bytes_before: bool,
}

impl Capabilities {
    /// All there is, VP8 before H.264 before VP9.
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
