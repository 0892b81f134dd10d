//! What was agreed on: which streams come, how they are told apart, what is to be told of them.

use thalweg_control::rebera::MeasurementConfig;
use thalweg_sender::scheme::KeptAtReceiver;
use thalweg_units::{Bytes, ConfigError, Span, above, check};
use thalweg_wire::overhead;

use super::reception::Reception;

/// What a reception is of.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Who reports: the SSRC in our own RTCP.
    pub ssrc: u32,
    /// Our name in it (SDES CNAME, RFC 7022), 1 to 255 bytes.
    pub cname: String,
    /// The video, if one comes.
    pub video: Option<Video>,
    /// What the video may come in, with parity among it.
    pub redundancy: Option<Redundancy>,
    /// The audio, if one comes.
    pub audio: Option<Audio>,
    /// Whether requests and reports may go alone (RFC 5506, `a=rtcp-rsize`); otherwise each begins with a receiver report and
    /// our name (RFC 3550 section 6.1).
    pub reduced_size: bool,
    /// How often receiver reports leave (libwebrtc `RTCPSender::kDefaultVideoReportInterval`, there spread by half of it both
    /// ways), above zero.
    pub report_interval: Span,
    /// After how long without a request what came is told all the same, where feedback is on request; `None` for never, which
    /// is what libwebrtc does.
    pub unasked: Option<Span>,
    /// What is around an RTP packet on the wire: IP, UDP and the SRTP tag.
    pub around: Bytes,
    /// How the path is measured by the packets that say what was sent before them ([`Extensions::bytes_before`]), if it is, where
    /// [`Feedback::path`] was agreed on.
    pub measures: Option<MeasurementConfig>,
}

impl Default for Config {
    /// No stream at all, IPv4 and AES-GCM, otherwise as an unmodified browser and as often.
    fn default() -> Config {
        Config {
            ssrc: 1,
            cname: "thalweg".into(),
            video: None,
            redundancy: None,
            audio: None,
            reduced_size: true,
            report_interval: Span::from_secs(1),
            unasked: Some(Span::from_millis(62)),
            around: overhead::IPV4 + overhead::UDP + overhead::SRTP_TAG_GCM,
            measures: Some(MeasurementConfig::default()),
        }
    }
}

impl Config {
    /// A reception of nothing yet.
    ///
    /// # Errors
    /// A name that is empty or too long, an interval that is none, a payload type above 127 or of two streams, an SSRC of
    /// ours or of two streams, redundancy of no video, functional video of a codec that is not VP8, or its parameters or those of
    /// measuring out of range.
    pub fn build(self) -> Result<Reception, ConfigError> {
        check("cname", self.cname.len()).within(1..=255, "20 bytes")?;
        check("report_interval", self.report_interval).within(above(Span::ZERO), "1s")?;
        check("redundancy", "no video")
            .is(!self.redundancy.is_some() || !self.video.is_none(), "that of a video: leave redundancy out")?;
        let repeats = self.video.as_ref().and_then(|video| video.retransmission);
        if let Some(types) = self.redundancy
            && let (Some(found), None) = (types.retransmission, repeats)
        {
            let range = "with repeats of the video: leave it out, or agree on the video's own";
            return Err(ConfigError::out_of_range("redundancy.retransmission", found, range));
        }
        let video = self.video.iter().flat_map(|video| [Some(video.payload_type), video.retransmission, video.parity]);
        let redundancy = self.redundancy.iter().flat_map(|types| [Some(types.red), types.ulpfec, types.retransmission]);
        let audio = self.audio.iter().map(|audio| Some(audio.payload_type));
        let mut payload_types: Vec<u8> = video.chain(redundancy).chain(audio).flatten().collect();
        payload_types.sort_unstable();
        if let Some(wrong) = payload_types.iter().find(|payload_type| **payload_type > 127) {
            return Err(ConfigError::out_of_range("payload type", wrong, "0 to 127"));
        }
        if let Some(pair) = payload_types.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(ConfigError::out_of_range("payload type", pair[0], "one for each stream: no two alike"));
        }
        let video =
            self.video.iter().flat_map(|video| [video.ssrcs.media, video.ssrcs.retransmission, video.ssrcs.parity]);
        let mut ssrcs: Vec<u32> = video.chain(self.audio.iter().map(|audio| audio.ssrc)).flatten().collect();
        ssrcs.push(self.ssrc);
        ssrcs.sort_unstable();
        if let Some(pair) = ssrcs.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(ConfigError::out_of_range(
                "SSRC",
                pair[0],
                "one for each stream and one of ours: no two alike",
            ));
        }
        if let Some(video) = &self.video
            && video.keeps_states.is_some()
            && (video.codec != Codec::Vp8 || video.extensions.grace.is_none())
        {
            let range = "VP8 with the grace extension agreed on: leave keeps_states out";
            return Err(ConfigError::out_of_range("keeps_states of codec", format!("{:?}", video.codec), range));
        }
        Reception::new(self)
    }
}

/// A video that comes.
#[derive(Debug, Clone, PartialEq)]
pub struct Video {
    /// How its frames are packed.
    pub codec: Codec,
    /// Payload type of the media, 0 to 127.
    pub payload_type: u8,
    /// Payload type of repeats (RFC 4588).
    pub retransmission: Option<u8>,
    /// Payload type of parity (flexfec-03).
    pub parity: Option<u8>,
    /// The streams, as far as SDP names them; those it does not are known by their payload type.
    pub ssrcs: Ssrcs,
    /// The media section, where packets may say so.
    pub mid: Option<String>,
    /// Ids of header extensions.
    pub extensions: Extensions,
    /// What may be told.
    pub feedback: Feedback,
    /// Whether its frames name the decoder's states they lead from and to (Salsify), and what becomes of what is missing then.
    pub keeps_states: Option<KeptAtReceiver>,
}

impl Video {
    /// Video of this codec under this payload type, of any stream, of which nothing is told.
    pub fn new(codec: Codec, payload_type: u8) -> Video {
        Video {
            codec,
            payload_type,
            retransmission: None,
            parity: None,
            ssrcs: Ssrcs::default(),
            mid: None,
            extensions: Extensions::default(),
            feedback: Feedback::default(),
            keeps_states: None,
        }
    }
}

/// RED (RFC 2198) and the parity in it (RFC 5109): what a browser sends where nothing better was agreed on. Its packets are of the
/// media's stream, numbers included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redundancy {
    /// Payload type of packets that carry media, or parity, in RED.
    pub red: u8,
    /// Payload type of parity in it.
    pub ulpfec: Option<u8>,
    /// Payload type of repeats of such packets, on the stream of repeats.
    pub retransmission: Option<u8>,
}

/// How frames are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// RFC 7741.
    Vp8,
    /// RFC 6184 in the modes without interleaving; frames come out as Annex B writes them.
    H264,
    /// RFC 9628; the layers of a picture come out as one frame.
    Vp9,
}

/// The streams of a video.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ssrcs {
    /// The media.
    pub media: Option<u32>,
    /// Repeats of it.
    pub retransmission: Option<u32>,
    /// Parity of it.
    pub parity: Option<u32>,
}

/// Audio that comes: Opus (RFC 7587), 48 kHz.
#[derive(Debug, Clone, PartialEq)]
pub struct Audio {
    /// Its payload type, 0 to 127.
    pub payload_type: u8,
    /// Its stream, if SDP names it; otherwise it is known by its payload type.
    pub ssrc: Option<u32>,
    /// The media section, where packets may say so.
    pub mid: Option<String>,
    /// Ids of header extensions.
    pub extensions: Extensions,
    /// How long a packet is held for one before it that has not come.
    pub patience: Span,
}

impl Audio {
    /// Opus under this payload type, of any stream; three packets of 20 ms are waited for.
    pub fn new(payload_type: u8) -> Audio {
        let extensions = Extensions::default();
        Audio { payload_type, ssrc: None, mid: None, extensions, patience: Span::from_millis(60) }
    }
}

/// Ids of header extensions, 1 to 255 as SDP has agreed on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extensions {
    /// Transport-wide sequence number, with requests or without ([`thalweg_wire::rtp::TransportSequence`]).
    pub transport_sequence: Option<u8>,
    /// Whether it is the kind with requests (transport-wide-cc-02).
    pub transport_on_request: bool,
    /// The media section a packet belongs to (RFC 9143).
    pub mid: Option<u8>,
    /// When a packet left, which parity does not cover.
    pub absolute_send_time: Option<u8>,
    /// Grace period and fragment ([`thalweg_wire::rtp::FragmentGrace`]).
    pub grace: Option<u8>,
    /// States of the decoder ([`thalweg_wire::rtp::FrameStates`]).
    pub states: Option<u8>,
    /// What frames refer to ([`thalweg_wire::rtp::dependency::DependencyDescriptor`]).
    pub dependencies: Option<u8>,
    /// How much was sent before a packet ([`thalweg_wire::rtp::BytesBefore`]).
    pub bytes_before: Option<u8>,
}

/// What may be told of a video (`a=rtcp-fb`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Feedback {
    /// Packets that are missing.
    pub nack: bool,
    /// That a picture cannot be shown, which asks for a keyframe.
    pub pli: bool,
    /// That a keyframe is wanted, for who does not take the one above.
    pub fir: bool,
    /// Arrivals by transport-wide number.
    pub transport: bool,
    /// Arrivals by stream (RFC 8888), and then not the others.
    pub congestion: bool,
    /// Arrivals by stream in extended reports (RFC 3611), where neither of the two above was agreed on.
    pub extended: bool,
    /// When reports left, which the sender sends back (RFC 3611): the round trip is known then.
    pub round_trip: bool,
    /// What the path bears and what it lost ([`thalweg_wire::rtcp::PathReport`]).
    pub path: bool,
}
