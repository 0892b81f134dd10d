//! Our offer.

use thalweg_wire::rtp::uri;

use super::av1::Av1Format;
use super::capabilities::{Capabilities, CongestionFeedback, Direction, VideoCodec};
use super::fragment::Fragment;
use super::h264::H264Format;
use super::local::Local;
use super::negotiated::{Feedback, Kinds, Redundancy, Ssrcs};
use super::read::Mapped;
use super::write::{Codec, FormatLines, SectionLines, TransportLines, audio_format, session, video_formats};
use crate::parameters::Credentials;

/// The first payload type of video: in the dynamic range, 96 to 127, which every endpoint reserves for video and audio.
const FIRST_VIDEO: u8 = 96;

/// Payload type of FEC packets, above those of all codecs.
const FEC: u8 = 118;

/// Payload types of RED and its contents.
const REDUNDANCY: Redundancy = Redundancy { red: 119, ulpfec: 121, retransmission: Some(120) };

/// Payload type of Opus, the same as in browsers.
const OPUS: u8 = 111;

/// The offered H.264 level, 3.1 as in browsers; a higher one may be sent if the answer allows it.
const LEVEL: u8 = 31;

/// An offer, and the data needed to validate the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The SDP to send.
    pub text: String,
    pub(super) local: Local,
    pub(super) capabilities: Capabilities,
    pub(super) sections: Vec<Offered>,
}

/// A section of an offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Offered {
    pub(super) kind: &'static str,
    pub(super) mid: &'static str,
    /// Payload types, and their `a=rtpmap` values.
    pub(super) formats: Vec<(u8, String)>,
    pub(super) extensions: Vec<Mapped<'static>>,
}

/// Creates an offer to send, as a WHIP client does, or to receive, as a WHEP client does: video (section `0`), audio
/// (section `1`, or `0` without video), bundled.
pub fn offer(local: &Local, capabilities: &Capabilities) -> Offer {
    let (mut sections, mut lines) = (Vec::new(), Vec::new());
    let congestion = |kind| capabilities.congestion.contains(&kind);
    let transport = [CongestionFeedback::TransportOnRequest, CongestionFeedback::Transport].into_iter().any(congestion);
    let extended = congestion(CongestionFeedback::Extended);
    let feedback = Feedback {
        transport,
        congestion: congestion(CongestionFeedback::PerStream),
        frames: capabilities.feedback.frames && congestion(CongestionFeedback::PerStream),
        extended,
        ..capabilities.feedback
    };
    let mut add = |kind, formats: Vec<FormatLines>, streams| {
        let mid = ["0", "1"][sections.len()];
        let extensions = extensions(capabilities, kind == "video");
        let numbers = formats.iter().map(|format| (format.payload_type, format.map.clone())).collect();
        let transport = TransportLines { local, setup: "actpass", with_candidates: sections.is_empty() };
        sections.push(Offered { kind, mid, formats: numbers, extensions: extensions.clone() });
        let direction = capabilities.direction;
        let streams = if direction == Direction::SendOnly { streams } else { Ssrcs::default() };
        let (reduced_size, only_multiplexed) = (true, true);
        let section = SectionLines {
            kind,
            mid,
            protocol: ["UDP", "TLS", "RTP", "SAVPF"].map(str::to_owned).to_vec(),
            direction,
            formats,
            extensions,
            extended,
            reduced_size,
            only_multiplexed,
            streams,
            transport,
        };
        lines.push(section.section());
    };
    let ids = local.streams;
    if !capabilities.video.is_empty() {
        let fec = capabilities.fec.then_some(FEC);
        let streams = Ssrcs {
            media: Some(ids.video),
            retransmission: capabilities.retransmission.then_some(ids.retransmission),
            fec: fec.map(|_| ids.fec),
        };
        let rtx = REDUNDANCY.retransmission.filter(|_| capabilities.retransmission);
        let redundancy = capabilities.redundancy.then_some(Redundancy { retransmission: rtx, ..REDUNDANCY });
        add("video", video_formats(&codecs(capabilities), fec, redundancy, feedback), streams);
    }
    if capabilities.audio {
        let streams = Ssrcs { media: Some(ids.audio), ..Ssrcs::default() };
        add("audio", vec![audio_format(OPUS, feedback.of_audio())], streams);
    }
    let bundle: Vec<_> = sections.iter().map(|section| section.mid).collect();
    let text = session(local, true, &bundle, lines);
    Offer { text, local: local.clone(), capabilities: capabilities.clone(), sections }
}

impl Offer {
    /// A fragment that signals an ICE restart or a further candidate (RFC 8840, RFC 9725 section 4.3) for the transport
    /// of all sections. `candidates` are values of `a=candidate` lines, `candidate:...`.
    pub fn fragment(&self, credentials: &Credentials, candidates: &[String]) -> Fragment {
        let section = self.sections.first();
        Fragment {
            lite: self.local.lite,
            bundle: self.sections.iter().map(|section| section.mid.to_owned()).collect(),
            kind: section.map_or("video", |section| section.kind).to_owned(),
            mid: section.map_or("0", |section| section.mid).to_owned(),
            credentials: credentials.clone(),
            candidates: candidates.to_vec(),
            ended: true,
        }
    }
}

/// Codecs and their payload types, in order of preference; H.264 once per profile.
fn codecs(capabilities: &Capabilities) -> Vec<Codec> {
    let formats = capabilities.video.iter().flat_map(|codec| match codec {
        VideoCodec::H264 => {
            let profiles = capabilities.h264.iter();
            profiles.map(|profile| (*codec, Some(H264Format { profile: *profile, level: LEVEL }), None)).collect()
        }
        VideoCodec::Vp8 | VideoCodec::Vp9 => vec![(*codec, None, None)],
        VideoCodec::Av1 => vec![(*codec, None, Some(Av1Format::UNSAID))],
    });
    let numbers = (FIRST_VIDEO..OPUS).step_by(2);
    let numbered = formats.zip(numbers).map(|((codec, h264, av1), payload_type)| Codec {
        codec,
        h264,
        av1,
        payload_type,
        retransmission: capabilities.retransmission.then_some(payload_type + 1),
    });
    numbered.collect()
}

/// Extensions and their ids: the same in both sections, because they share a transport (RFC 9143).
fn extensions(capabilities: &Capabilities, is_video: bool) -> Vec<Mapped<'static>> {
    let congestion = |kind| capabilities.congestion.contains(&kind);
    let wanted = [
        (capabilities.mid, uri::MID),
        (capabilities.absolute_send_time, uri::ABSOLUTE_SEND_TIME),
        (congestion(CongestionFeedback::TransportOnRequest), uri::TRANSPORT_CC_02),
        (congestion(CongestionFeedback::Transport), uri::TRANSPORT_CC_01),
        (is_video && capabilities.playout_delay, uri::PLAYOUT_DELAY),
        (is_video && capabilities.functional, uri::FRAGMENT_GRACE),
        (is_video && capabilities.functional, uri::FRAME_STATES),
        (is_video && capabilities.dependencies, uri::DEPENDENCY_DESCRIPTOR),
        (capabilities.bytes_before, uri::BYTES_BEFORE),
    ];
    let numbered = (1..).zip(wanted);
    numbered.filter(|(_, (is_wanted, _))| *is_wanted).map(|(id, (_, uri))| Mapped::new(id, uri)).collect()
}
