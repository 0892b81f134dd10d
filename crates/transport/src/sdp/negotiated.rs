//! What was agreed on.

use thalweg_units::Rate;
use thalweg_wire::rtp::uri;

use super::capabilities::{CongestionFeedback, Direction, Feedback, VideoCodec};
use super::h264::H264Format;
use super::local::StreamIds;
use super::read::Mapped;

/// What was agreed on. Both ends of a session hold the same but for the direction and [`Negotiated::local`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Negotiated {
    /// Which way media goes.
    pub direction: Direction,
    /// Video, if any.
    pub video: Option<Video>,
    /// Audio, if any.
    pub audio: Option<Audio>,
    /// SSRCs of this end.
    pub local: StreamIds,
}

/// SSRCs of what is sent in a section: ours where we send, the other end's where it does. `None` where there is no such
/// stream, or the other end does not say: its packets are then known by payload type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Streams {
    /// Media.
    pub media: Option<u32>,
    /// Repeats of it (`a=ssrc-group:FID`).
    pub retransmission: Option<u32>,
    /// Parity packets over it (`a=ssrc-group:FEC-FR`).
    pub parity: Option<u32>,
}

/// A section of video.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Video {
    /// Its name, the data of the header extension `mid`.
    pub mid: String,
    /// The codec.
    pub codec: VideoCodec,
    /// With H.264, the profile, and the level the answer names.
    pub h264: Option<H264Format>,
    /// Payload type of media.
    pub payload_type: u8,
    /// Payload type of repeats (RFC 4588).
    pub retransmission: Option<u8>,
    /// Payload type of parity packets (`flexfec-03`).
    pub parity: Option<u8>,
    /// Whether parity may be of a block code ([`thalweg_wire::block_code`]).
    pub block_code: bool,
    /// Payload types of RED, where there are no parity packets on a stream of their own.
    pub redundancy: Option<Redundancy>,
    /// Header extensions.
    pub extensions: ExtensionIds,
    /// What the receiver reports.
    pub feedback: Feedback,
    /// SSRCs of what is sent.
    pub streams: Streams,
    /// Where the other end receives: most it wants to be sent in this section (`b=TIAS` or `b=AS`, RFC 3890).
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

/// RED (RFC 2198) with ULPFEC in it (RFC 5109): packets of the media's stream, numbers included. A sender may use it, and need not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redundancy {
    /// Payload type of packets that carry media, or parity, in RED.
    pub red: u8,
    /// Payload type of parity in it.
    pub ulpfec: u8,
    /// Payload type of repeats of such packets (RFC 4588); only where media has repeats too.
    pub retransmission: Option<u8>,
}

/// A section of audio: `opus/48000/2` (RFC 7587).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audio {
    /// Its name, the data of the header extension `mid`.
    pub mid: String,
    /// Payload type.
    pub payload_type: u8,
    /// The other end wants two channels, where it receives (`stereo=1`); it decodes either.
    pub stereo: bool,
    /// The other end can use the redundancy inside packets of Opus (`useinbandfec=1`).
    pub in_band_repair: bool,
    /// Header extensions.
    pub extensions: ExtensionIds,
    /// What the receiver reports.
    pub feedback: Feedback,
    /// SSRCs of what is sent.
    pub streams: Streams,
}

/// Numbers of header extensions (RFC 8285), 1 to 14 or 16 to 255; `None`: not agreed on, not to be sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExtensionIds {
    /// Transport-wide sequence number.
    pub transport_sequence: Option<u8>,
    /// That number in the form of `transport-wide-cc-02`: feedback on request.
    pub transport_on_request: bool,
    /// How long the receiver should hold frames.
    pub playout_delay: Option<u8>,
    /// The name of the section.
    pub mid: Option<u8>,
    /// When the packet left.
    pub absolute_send_time: Option<u8>,
    /// Functional video: the grace period and the fragment.
    pub grace: Option<u8>,
    /// Functional video: source and target state.
    pub states: Option<u8>,
    /// What frames in layers refer to.
    pub dependencies: Option<u8>,
    /// How much was sent before the packet.
    pub bytes_before: Option<u8>,
}

impl ExtensionIds {
    /// Each by its name.
    pub(super) fn mapped(&self) -> Vec<Mapped<'static>> {
        let transport = if self.transport_on_request { uri::TRANSPORT_CC_02 } else { uri::TRANSPORT_CC_01 };
        let all = [
            (self.mid, uri::MID),
            (self.absolute_send_time, uri::ABSOLUTE_SEND_TIME),
            (self.transport_sequence, transport),
            (self.playout_delay, uri::PLAYOUT_DELAY),
            (self.grace, uri::FRAGMENT_GRACE),
            (self.states, uri::FRAME_STATES),
            (self.dependencies, uri::DEPENDENCY_DESCRIPTOR),
            (self.bytes_before, uri::BYTES_BEFORE),
        ];
        all.into_iter().filter_map(|(id, uri)| Some(Mapped { id: id?, uri })).collect()
    }
}

/// One of the kinds.
type Part = fn(&mut Feedback) -> &mut bool;

impl Feedback {
    /// Each kind as `a=rtcp-fb` names it.
    const KINDS: [(&str, Part); 8] = [
        ("goog-remb", |feedback| &mut feedback.bitrate),
        ("transport-cc", |feedback| &mut feedback.transport),
        ("ack ccfb", |feedback| &mut feedback.congestion),
        ("ccm fir", |feedback| &mut feedback.fir),
        ("nack", |feedback| &mut feedback.nack),
        ("nack pli", |feedback| &mut feedback.pli),
        ("rrtr", |feedback| &mut feedback.round_trip),
        ("ack app path", |feedback| &mut feedback.path),
    ];

    /// The names of what is there.
    pub(super) fn names(mut self) -> Vec<&'static str> {
        Feedback::KINDS.iter().filter(|(_, of)| *of(&mut self)).map(|(name, _)| *name).collect()
    }

    /// Takes note of a kind by its name; kinds that are not known here are left out.
    pub(super) fn add(&mut self, name: &str) {
        if let Some((_, of)) = Feedback::KINDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            *of(self) = true;
        }
    }

    /// What either has.
    pub(super) fn or(mut self, mut other: Feedback) -> Feedback {
        for (_, of) in Feedback::KINDS {
            *of(&mut self) |= *of(&mut other);
        }
        self
    }

    /// What both have.
    pub(super) fn and(mut self, mut other: Feedback) -> Feedback {
        for (_, of) in Feedback::KINDS {
            *of(&mut self) &= *of(&mut other);
        }
        self
    }

    /// What audio has of it: sound is not repeated and has no pictures, and the round trip is the video's.
    pub(super) fn of_audio(self) -> Feedback {
        let Feedback { transport, congestion, extended, .. } = self;
        Feedback { transport, congestion, extended, ..Feedback::default() }
    }

    /// Without congestion feedback.
    pub(super) fn repair(self) -> Feedback {
        Feedback { transport: false, congestion: false, extended: false, ..self }
    }

    /// With this kind of congestion feedback and no other.
    pub(super) fn with(self, kind: Option<CongestionFeedback>) -> Feedback {
        Feedback {
            congestion: kind == Some(CongestionFeedback::PerStream),
            transport: matches!(kind, Some(CongestionFeedback::Transport | CongestionFeedback::TransportOnRequest)),
            extended: kind == Some(CongestionFeedback::Extended),
            ..self
        }
    }
}
