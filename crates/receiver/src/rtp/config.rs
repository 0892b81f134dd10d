//! The negotiated configuration: which streams to receive, how to distinguish them, and what feedback to send.

use thalweg_control::estimate::MeasurementConfig;
use thalweg_types::StatefulReceiver;
use thalweg_units::{Bytes, ConfigError, Span, above, check};
pub use thalweg_wire::negotiated::{ExtensionIds, Feedback, Redundancy, Ssrcs};
use thalweg_wire::overhead;

/// Configuration of a [`Reception`](super::Reception).
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The SSRC in our own RTCP.
    pub ssrc: u32,
    /// Our CNAME in RTCP (SDES, RFC 7022), 1 to 255 bytes.
    pub cname: String,
    /// The video, if there is one.
    pub video: Option<Video>,
    /// RED and the FEC in it, if the video may use them.
    pub redundancy: Option<Redundancy>,
    /// The audio, if there is one.
    pub audio: Option<Audio>,
    /// Allows reduced-size RTCP (RFC 5506, `a=rtcp-rsize`); otherwise each datagram begins with a receiver report and
    /// our CNAME (RFC 3550 section 6.1).
    pub reduced_size: bool,
    /// Interval of receiver reports, above zero (libwebrtc `RTCPSender::kDefaultVideoReportInterval`, there randomised
    /// by half of it both ways).
    pub report_interval: Span,
    /// With feedback on request: time without a request after which arrivals are reported anyway; `None` for never, as
    /// in libwebrtc.
    pub unasked: Option<Span>,
    /// Overhead per RTP packet on the wire: IP, UDP and the SRTP tag.
    pub around: Bytes,
    /// Settings of path measurement from packets that carry the bytes sent before them
    /// ([`ExtensionIds::bytes_before`]), where [`Feedback::path`] was negotiated; `None` for no measurement.
    pub measures: Option<MeasurementConfig>,
}

impl Default for Config {
    /// No streams, IPv4 and AES-GCM; everything else, including intervals, as in an unmodified browser.
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
    /// Checks the settings, except those of the parts that check their own.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check("cname", self.cname.len()).is((1..=255).contains(&self.cname.len()), "1 to 255 bytes")?;
        check("report_interval", self.report_interval).within(above(Span::ZERO), "1s")?;
        check("redundancy", "no video")
            .is(self.redundancy.is_none() || self.video.is_some(), "that of a video: leave redundancy out")?;
        let rtx = self.video.as_ref().and_then(|video| video.retransmission);
        if let Some(found) = self.redundancy.and_then(|types| types.retransmission) {
            let range = "with retransmissions of the video: leave it out, or agree on the video's own";
            check("redundancy.retransmission", found).is(rtx.is_some(), range)?;
        }
        let video = self.video.iter().flat_map(|video| [Some(video.payload_type), video.retransmission, video.fec]);
        let redundancy =
            self.redundancy.iter().flat_map(|types| [Some(types.red), Some(types.ulpfec), types.retransmission]);
        let audio = self.audio.iter().map(|audio| Some(audio.payload_type));
        let mut payload_types: Vec<u8> = video.chain(redundancy).chain(audio).flatten().collect();
        payload_types.sort_unstable();
        for payload_type in &payload_types {
            check("payload type", payload_type).within(&0..=&127, "96")?;
        }
        for pair in payload_types.windows(2) {
            check("payload type", pair[0]).is(pair[0] != pair[1], "one for each stream: no two alike")?;
        }
        let video =
            self.video.iter().flat_map(|video| [video.ssrcs.media, video.ssrcs.retransmission, video.ssrcs.fec]);
        let mut ssrcs: Vec<u32> = video.chain(self.audio.iter().map(|audio| audio.ssrc)).flatten().collect();
        ssrcs.push(self.ssrc);
        ssrcs.sort_unstable();
        for pair in ssrcs.windows(2) {
            check("SSRC", pair[0]).is(pair[0] != pair[1], "one for each stream and one of ours: no two alike")?;
        }
        if let Some(video) = self.video.as_ref().filter(|video| video.stateful.is_some()) {
            check("stateful of codec", format_args!("{:?}", video.codec)).is(
                video.codec == Codec::Vp8 && video.extensions.grace.is_some(),
                "VP8 with the grace extension agreed on: leave stateful out",
            )?;
        }
        Ok(())
    }
}

/// A video to receive.
#[derive(Debug, Clone, PartialEq)]
pub struct Video {
    /// Its payload format.
    pub codec: Codec,
    /// Payload type of the media, 0 to 127.
    pub payload_type: u8,
    /// Payload type of retransmissions (RFC 4588).
    pub retransmission: Option<u8>,
    /// Payload type of FEC (flexfec-03).
    pub fec: Option<u8>,
    /// The SSRCs that SDP names; streams without one are identified by payload type.
    pub ssrcs: Ssrcs,
    /// The media section's id (MID), where packets may carry it.
    pub mid: Option<String>,
    /// Ids of header extensions.
    pub extensions: ExtensionIds,
    /// The negotiated feedback.
    pub feedback: Feedback,
    /// For functional video, whose frames name the decoder states they lead from and to (Salsify): the settings of the
    /// stateful receiver, including its handling of losses.
    pub stateful: Option<StatefulReceiver>,
}

impl Video {
    /// Video of this codec with this payload type, on any SSRC, without feedback.
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

/// The payload format of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// RFC 7741.
    Vp8,
    /// RFC 6184 in the modes without interleaving; frames are delivered in Annex B format.
    H264,
    /// RFC 9628; the layers of a picture are delivered as one frame.
    Vp9,
    /// AOM's RTP Payload Format For AV1; temporal units are delivered as one frame, their OBUs with sizes.
    Av1,
}

/// An audio stream to receive: Opus (RFC 7587), 48 kHz.
#[derive(Debug, Clone, PartialEq)]
pub struct Audio {
    /// Its payload type, 0 to 127.
    pub payload_type: u8,
    /// Its SSRC, if SDP names it; otherwise it is identified by its payload type.
    pub ssrc: Option<u32>,
    /// The media section's id (MID), where packets may carry it.
    pub mid: Option<String>,
    /// Ids of header extensions.
    pub extensions: ExtensionIds,
    /// Max time a packet waits for a missing earlier one.
    pub jitter_buffer_delay: Span,
}

impl Audio {
    /// Opus with this payload type, on any SSRC; waits for up to three packets of 20 ms.
    pub fn new(payload_type: u8) -> Audio {
        let extensions = ExtensionIds::default();
        Audio { payload_type, ssrc: None, mid: None, extensions, jitter_buffer_delay: Span::from_millis(60) }
    }
}
