//! What was agreed on: which streams come, how they are distinguished, what is to be reported of them.

use thalweg_control::estimate::MeasurementConfig;
use thalweg_media::StatefulReceiver;
use thalweg_units::{Bytes, ConfigError, Span};
pub use thalweg_wire::negotiated::{ExtensionIds, Feedback, Redundancy, Ssrcs};
use thalweg_wire::overhead;

/// What a reception is of.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Who reports: the SSRC in our own RTCP.
    pub ssrc: u32,
    /// Our name in it (SDES CNAME, RFC 7022), 1 to 255 bytes.
    pub cname: String,
    /// The video, if one comes.
    pub video: Option<Video>,
    /// What the video may come in, with FEC among it.
    pub redundancy: Option<Redundancy>,
    /// The audio, if one comes.
    pub audio: Option<Audio>,
    /// Whether requests and reports may go alone (RFC 5506, `a=rtcp-rsize`); otherwise each begins with a receiver report and
    /// our name (RFC 3550 section 6.1).
    pub reduced_size: bool,
    /// How often receiver reports leave (libwebrtc `RTCPSender::kDefaultVideoReportInterval`, there spread by half of it both
    /// ways), above zero.
    pub report_interval: Span,
    /// After how long without a request what came is reported all the same, where feedback is on request; `None` for never, which
    /// is what libwebrtc does.
    pub unasked: Option<Span>,
    /// What is around an RTP packet on the wire: IP, UDP and the SRTP tag.
    pub around: Bytes,
    /// How the path is measured by the packets that say what was sent before them ([`ExtensionIds::bytes_before`]), if it is, where
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
    /// Whether there can be such a reception, as far as it does not depend on what it is made of.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if !(1..=255).contains(&self.cname.len()) {
            return Err(ConfigError::out_of_range("cname", self.cname.len(), "1 to 255 bytes"));
        }
        if self.report_interval <= Span::ZERO {
            return Err(ConfigError::out_of_range("report_interval", self.report_interval, "above 0 s, such as 1s"));
        }
        if self.redundancy.is_some() && self.video.is_none() {
            return Err(ConfigError::out_of_range("redundancy", "no video", "that of a video: leave redundancy out"));
        }
        let rtx = self.video.as_ref().and_then(|video| video.retransmission);
        if let Some(types) = self.redundancy
            && let (Some(found), None) = (types.retransmission, rtx)
        {
            let range = "with retransmissions of the video: leave it out, or agree on the video's own";
            return Err(ConfigError::out_of_range("redundancy.retransmission", found, range));
        }
        let video = self.video.iter().flat_map(|video| [Some(video.payload_type), video.retransmission, video.fec]);
        let redundancy =
            self.redundancy.iter().flat_map(|types| [Some(types.red), Some(types.ulpfec), types.retransmission]);
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
            self.video.iter().flat_map(|video| [video.ssrcs.media, video.ssrcs.retransmission, video.ssrcs.fec]);
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
            && video.stateful.is_some()
            && (video.codec != Codec::Vp8 || video.extensions.grace.is_none())
        {
            let range = "VP8 with the grace extension agreed on: leave stateful out";
            return Err(ConfigError::out_of_range("stateful of codec", format!("{:?}", video.codec), range));
        }
        Ok(())
    }
}

/// A video that comes.
#[derive(Debug, Clone, PartialEq)]
pub struct Video {
    /// How its frames are packed.
    pub codec: Codec,
    /// Payload type of the media, 0 to 127.
    pub payload_type: u8,
    /// Payload type of retransmissions (RFC 4588).
    pub retransmission: Option<u8>,
    /// Payload type of FEC (flexfec-03).
    pub fec: Option<u8>,
    /// The streams, as far as SDP names them; those it does not are known by their payload type.
    pub ssrcs: Ssrcs,
    /// The media section, where packets may say so.
    pub mid: Option<String>,
    /// Ids of header extensions.
    pub extensions: ExtensionIds,
    /// What may be reported.
    pub feedback: Feedback,
    /// Whether its frames name the decoder's states they lead from and to (Salsify), and what happens to what is missing then.
    pub stateful: Option<StatefulReceiver>,
}

impl Video {
    /// Video of this codec under this payload type, of any stream, of which nothing is reported.
    pub fn new(codec: Codec, payload_type: u8) -> Video {
        Video {
            codec,
            payload_type,
            retransmission: None,
            fec: None,
            ssrcs: Ssrcs::default(),
            mid: None,
            extensions: ExtensionIds::default(),
            feedback: Feedback::default(),
            stateful: None,
        }
    }
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
    pub extensions: ExtensionIds,
    /// How long a packet is held for one before it that has not come.
    pub jitter_buffer_delay: Span,
}

impl Audio {
    /// Opus under this payload type, of any stream; three packets of 20 ms are waited for.
    pub fn new(payload_type: u8) -> Audio {
        let extensions = ExtensionIds::default();
        Audio { payload_type, ssrc: None, mid: None, extensions, jitter_buffer_delay: Span::from_millis(60) }
    }
}
