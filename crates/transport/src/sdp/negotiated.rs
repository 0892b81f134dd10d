//! The result of a negotiation.

use thalweg_units::Rate;
pub use thalweg_wire::negotiated::{ExtensionIds, Feedback, Redundancy, Ssrcs};
use thalweg_wire::rtp::uri;

use super::av1::Av1Format;
use super::capabilities::{CongestionFeedback, Direction, VideoCodec};
use super::h264::H264Format;
use super::local::StreamIds;
use super::read::Mapped;

/// The result of a negotiation. Both endpoints have the same except for the direction and [`Negotiated::local`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Negotiated {
    /// Direction of media.
    pub direction: Direction,
    /// Video, if any.
    pub video: Option<Video>,
    /// Audio, if any.
    pub audio: Option<Audio>,
    /// True if both endpoints take RTCP that does not begin with a report (`a=rtcp-rsize`, RFC 5506 section 5).
    pub reduced_size: bool,
    /// SSRCs of this endpoint.
    pub local: StreamIds,
}

/// A video section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Video {
    /// Its MID, the data of the header extension `mid`.
    pub mid: String,
    /// The codec.
    pub codec: VideoCodec,
    /// For H.264, the profile, and the level in the answer.
    pub h264: Option<H264Format>,
    /// For AV1, the level and tier in the answer: those of the offer, because libwebrtc takes one with others for another
    /// codec (`AV1IsSameLevelIdx` of `api/video_codecs/sdp_video_format.cc`).
    pub av1: Option<Av1Format>,
    /// Payload type of media.
    pub payload_type: u8,
    /// Payload type of retransmissions (RFC 4588).
    pub retransmission: Option<u8>,
    /// Payload type of FEC packets (`flexfec-03`).
    pub fec: Option<u8>,
    /// Payload types of RED, if FEC packets have no stream of their own.
    pub redundancy: Option<Redundancy>,
    /// Ids of header extensions.
    pub extensions: ExtensionIds,
    /// The feedback that the receiver sends.
    pub feedback: Feedback,
    /// SSRCs of the sent streams.
    pub streams: Ssrcs,
    /// Max rate that the peer wants to receive in this section (`b=TIAS` or `b=AS`, RFC 3890), if it receives.
    pub limit: Option<Rate>,
}

impl Video {
    /// The kind of congestion feedback.
    pub fn congestion(&self) -> Option<CongestionFeedback> {
        match (self.feedback.congestion, self.feedback.transport) {
            (true, _) => Some(CongestionFeedback::PerStream),
            (_, true) if self.extensions.transport_on_request => Some(CongestionFeedback::TransportOnRequest),
            (_, true) => Some(CongestionFeedback::Transport),
            (false, false) => self.feedback.extended.then_some(CongestionFeedback::Extended),
        }
    }
}

/// An audio section: `opus/48000/2` (RFC 7587).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audio {
    /// Its MID, the data of the header extension `mid`.
    pub mid: String,
    /// Payload type.
    pub payload_type: u8,
    /// True if the peer, if it receives, prefers two channels (`stereo=1`); it decodes either.
    pub stereo: bool,
    /// True if the peer can use Opus in-band FEC (`useinbandfec=1`).
    pub in_band_repair: bool,
    /// Ids of header extensions.
    pub extensions: ExtensionIds,
    /// The feedback that the receiver sends.
    pub feedback: Feedback,
    /// SSRCs of the sent streams.
    pub streams: Ssrcs,
}

/// Each extension by its URI.
pub(super) fn mapped(ids: &ExtensionIds) -> Vec<Mapped<'static>> {
    let transport = if ids.transport_on_request { uri::TRANSPORT_CC_02 } else { uri::TRANSPORT_CC_01 };
    let all = [
        (ids.mid, uri::MID),
        (ids.absolute_send_time, uri::ABSOLUTE_SEND_TIME),
        (ids.transport_sequence, transport),
        (ids.playout_delay, uri::PLAYOUT_DELAY),
        (ids.grace, uri::FRAGMENT_GRACE),
        (ids.states, uri::FRAME_STATES),
        (ids.dependencies, uri::DEPENDENCY_DESCRIPTOR),
        (ids.bytes_before, uri::BYTES_BEFORE),
    ];
    all.into_iter().filter_map(|(id, uri)| Some(Mapped::new(id?, uri))).collect()
}

/// Accessor of one kind of feedback.
type Part = fn(&mut Feedback) -> &mut bool;

/// Each kind by its name in `a=rtcp-fb`.
const KINDS: [(&str, Part); 9] = [
    ("goog-remb", |feedback| &mut feedback.bitrate),
    ("transport-cc", |feedback| &mut feedback.transport),
    ("ack ccfb", |feedback| &mut feedback.congestion),
    ("ccm fir", |feedback| &mut feedback.fir),
    ("nack", |feedback| &mut feedback.nack),
    ("nack pli", |feedback| &mut feedback.pli),
    ("rrtr", |feedback| &mut feedback.round_trip),
    ("ack app path", |feedback| &mut feedback.path),
    ("ack app frame", |feedback| &mut feedback.frames),
];

/// Operations on feedback during negotiation.
pub(super) trait Kinds: Sized {
    /// The names of the enabled kinds.
    fn names(self) -> Vec<&'static str>;

    /// Enables a kind by its name; ignores unknown kinds.
    fn add(&mut self, name: &str);

    /// The union.
    fn or(self, other: Self) -> Self;

    /// The intersection.
    fn and(self, other: Self) -> Self;

    /// The part for audio: audio is not retransmitted and has no pictures, and the round-trip time is measured by
    /// video.
    fn of_audio(self) -> Self;

    /// Without congestion feedback.
    fn repair(self) -> Self;

    /// With only this kind of congestion feedback.
    fn with(self, kind: Option<CongestionFeedback>) -> Self;
}

impl Kinds for Feedback {
    fn names(mut self) -> Vec<&'static str> {
        KINDS.iter().filter(|(_, of)| *of(&mut self)).map(|(name, _)| *name).collect()
    }

    fn add(&mut self, name: &str) {
        if let Some((_, of)) = KINDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            *of(self) = true;
        }
    }

    fn or(mut self, mut other: Feedback) -> Feedback {
        for (_, of) in KINDS {
            *of(&mut self) |= *of(&mut other);
        }
        self
    }

    fn and(mut self, mut other: Feedback) -> Feedback {
        for (_, of) in KINDS {
            *of(&mut self) &= *of(&mut other);
        }
        self
    }

    fn of_audio(self) -> Feedback {
        let Feedback { transport, congestion, extended, .. } = self;
        Feedback { transport, congestion, extended, ..Feedback::default() }
    }

    fn repair(self) -> Feedback {
        Feedback { transport: false, congestion: false, extended: false, ..self }
    }

    fn with(self, kind: Option<CongestionFeedback>) -> Feedback {
        Feedback {
            congestion: kind == Some(CongestionFeedback::PerStream),
            frames: self.frames && kind == Some(CongestionFeedback::PerStream),
            transport: matches!(kind, Some(CongestionFeedback::Transport | CongestionFeedback::TransportOnRequest)),
            extended: kind == Some(CongestionFeedback::Extended),
            ..self
        }
    }
}
