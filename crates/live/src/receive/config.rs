//! Configuration of a receiver: accepted media, and their handling.

use std::net::SocketAddr;
use std::path::PathBuf;

use thalweg_transport::sdp::{self, Capabilities, Direction, VideoCodec};
use thalweg_units::{ConfigError, Span, above, check};

use crate::measure::{Feedback, decodable, needed};
use thalweg_emulate::LinkConfig;

/// The configuration of a receiver.
#[derive(Debug, Clone)]
pub struct ReceiveConfig {
    /// The UDP address that its socket is bound to; port 0 takes a free one.
    pub bind: SocketAddr,
    /// Addresses given to senders in place of the socket's own, such as those of a NAT in front of it; not used with an
    /// emulated link.
    pub advertise: Vec<SocketAddr>,
    /// The link that is emulated in front of each sender: `up` carries the video, `down` the feedback.
    pub link: Option<LinkConfig>,
    /// The same as text.
    pub link_text: Option<String>,
    /// The codecs accepted: a sender's own preference among these counts.
    pub codecs: Vec<VideoCodec>,
    /// The feedback to report arrivals with.
    pub feedback: Feedback,
    /// Accepts audio. It is counted, not decoded.
    pub audio: bool,
    /// Decodes frames; otherwise a frame counts as shown when it is complete.
    pub decode: bool,
    /// The maximum number of senders at a time, at least 1. A sender that joins and does not connect counts for 30 s.
    pub max_senders: usize,
    /// A picture with a higher latency from capture to display counts as late.
    pub late: Span,
    /// Data kept of each sender besides figures.
    pub observe: Observe,
}

/// Data kept of each sender besides figures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observe {
    /// Each packet and each frame, in memory until the sender has left: about 60 kB a second at 2 Mbps.
    pub each_packet: bool,
    /// The bytes of each frame too, to decode them again.
    pub data: bool,
    /// The folder for frames as received, `NAME.ivf` or `NAME.h264`.
    pub record: Option<PathBuf>,
}

impl ReceiveConfig {
    /// Receives at this address from up to four senders, with everything that can be decoded here, without an emulated link.
    pub fn new(bind: SocketAddr) -> ReceiveConfig {
        ReceiveConfig {
            bind,
            advertise: Vec::new(),
            link: None,
            link_text: None,
            codecs: decodable(),
            feedback: Feedback::default(),
            audio: true,
            decode: true,
            max_senders: 4,
            late: Span::from_millis(400),
            observe: Observe::default(),
        }
    }

    /// Checks the configuration.
    ///
    /// # Errors
    /// When there may be no sender, no codec, or one that is not decoded here.
    pub fn check(&self) -> Result<(), ConfigError> {
        check("senders", self.max_senders).is(self.max_senders > 0, "at least 1")?;
        check("late", self.late).within(above(Span::ZERO), "400ms")?;
        check("codecs", "none").is(!self.codecs.is_empty(), "at least one")?;
        let decodable = decodable();
        if let Some(codec) = self.codecs.iter().find(|codec| self.decode && !decodable.contains(codec)) {
            let (name, needed) = (codec.name(), needed(*codec));
            return Err(ConfigError::because(format!(
                "{name} cannot be decoded here: needed is {needed}; or decode nothing"
            )));
        }
        Ok(())
    }

    /// Capabilities for answers.
    pub(super) fn capabilities(&self) -> Capabilities {
        let all = Capabilities::all(Direction::ReceiveOnly);
        let measures = self.feedback != Feedback::Plain;
        // Whose encoder is libx264 with `baseline` offers that (ffmpeg) and sends Constrained Baseline: nobody uses the rest.
        let h264 = [all.h264, vec![sdp::H264Profile::Baseline]].concat();
        Capabilities {
            video: self.codecs.clone(),
            h264,
            audio: self.audio,
            congestion: self.feedback.offered(),
            // No receiver estimates are sent: the sender's own controller is what is measured.
            feedback: sdp::Feedback { path: measures, bitrate: false, ..all.feedback },
            bytes_before: measures,
            ..all
        }
    }
}

#[cfg(test)]
mod tests {
    use sdp::Local;
    use thalweg_transport::{Credentials, DtlsRole, Identity};
    use thalweg_units::Seed;

    use super::*;
    use crate::joining::stream_ids;

    #[test]
    fn by_default_who_offers_rfc_8888_is_reported_to_by_that_unless_it_asks_for_reports_itself() {
        let config = ReceiveConfig::new(SocketAddr::from(([127, 0, 0, 1], 0)));
        let [transport_on_request, per_stream, transport] = [
            sdp::CongestionFeedback::TransportOnRequest,
            sdp::CongestionFeedback::PerStream,
            sdp::CongestionFeedback::Transport,
        ];
        let kinds = config.capabilities().congestion;
        assert_eq!(kinds[..3], [transport_on_request, per_stream, transport]);
        assert_eq!(kinds.len(), 4);
    }

    /// Offer of ffmpeg 9.0.2 by WHIP, `-c:v libx264 -profile:v baseline`, without its sections of audio and SSRCs.
    const FFMPEG: &str = "v=0\r\no=FFmpeg 4489045141692799359 2 IN IP4 127.0.0.1\r\ns=FFmpegPublishSession\r\nt=0 0\r\n\
        a=group:BUNDLE 0\r\na=extmap-allow-mixed\r\na=msid-semantic: WMS\r\nm=video 9 UDP/TLS/RTP/SAVPF 106 105\r\n\
        c=IN IP4 0.0.0.0\r\na=ice-ufrag:ce4746af\r\na=ice-pwd:1734fdfd697e807d14bb0d2e7aec12ec\r\n\
        a=fingerprint:sha-256 4A:4A:D3:54:26:D5:D1:DD:05:C4:11:9F:6E:00:C5:BE:AF:CB:EE:5E:CC:E7:06:03:E8:41:05:CC:05:18:66:B5\r\n\
        a=setup:passive\r\na=mid:0\r\na=sendonly\r\na=msid:FFmpeg video\r\na=rtcp-mux\r\na=rtcp-rsize\r\n\
        a=rtpmap:106 H264/90000\r\n\
        a=fmtp:106 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001e\r\na=rtcp-fb:106 nack\r\n\
        a=rtpmap:105 rtx/90000\r\na=fmtp:105 apt=106\r\n";

    #[test]
    fn h264_baseline_as_ffmpeg_offers_it_is_agreed_on() {
        let identity = Identity::generate().unwrap();
        let local = Local {
            credentials: Credentials { ufrag: "abcd".into(), password: "0123456789abcdefghijkl".into() },
            fingerprint: identity.fingerprint(),
            candidates: Vec::new(),
            lite: true,
            setup: DtlsRole::Server,
            streams: stream_ids(Seed::new(1)),
            cname: String::new(),
        };
        let config = ReceiveConfig::new(SocketAddr::from(([127, 0, 0, 1], 0)));
        let answer = sdp::answer(FFMPEG, &local, &config.capabilities()).unwrap();
        let video = answer.media.video.unwrap();
        assert_eq!((video.codec, video.retransmission), (VideoCodec::H264, Some(105)));
        assert!(answer.text.contains("profile-level-id=42001e"), "{}", answer.text);
        assert_eq!(answer.dtls, DtlsRole::Client, "it waits for the handshake to begin");
    }

    #[test]
    fn no_sender_and_no_codec_are_refused_with_what_is_possible() {
        let config = ReceiveConfig::new(SocketAddr::from(([127, 0, 0, 1], 0)));
        let none = ReceiveConfig { max_senders: 0, ..config.clone() };
        assert!(none.check().unwrap_err().to_string().contains("at least 1"));
        assert!(ReceiveConfig { codecs: Vec::new(), ..config }.check().is_err());
    }

    #[test]
    fn av1_is_accepted_where_dav1d_is_installed_and_else_the_error_says_what_is_needed() {
        let config = ReceiveConfig::new(SocketAddr::from(([127, 0, 0, 1], 0)));
        let installed = config.codecs.contains(&VideoCodec::Av1);
        let av1 = ReceiveConfig { codecs: vec![VideoCodec::Av1], ..config };
        match av1.check() {
            Ok(()) => assert!(installed),
            Err(error) => assert!(!installed && error.to_string().contains("dav1d"), "{error}"),
        }
        assert!(ReceiveConfig { decode: false, ..av1 }.check().is_ok());
    }
}
