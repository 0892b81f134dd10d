//! What a receiver is made of: what was agreed on, in the receiver's own words.

use thalweg_control::estimate::MeasurementConfig;
use thalweg_receiver::rtp::{self, Codec, Config};
use thalweg_sender::scheme::StatefulReceiver;
use thalweg_transport::Connection;
use thalweg_transport::sdp::{self, Direction, Negotiated, VideoCodec};
use thalweg_units::{ConfigError, check};
use thalweg_wire::overhead;

/// What a receiver is made of.
#[derive(Debug, Clone)]
pub struct Setup {
    /// What was agreed on with the peer.
    pub media: Negotiated,
    /// The name in our reports (RFC 7022).
    pub cname: String,
    /// What happens to functional video, where its header extensions were agreed on; `None` for a standard decoder.
    pub stateful: Option<StatefulReceiver>,
    /// How the path is measured, where that was agreed on and the sender says what it sent before each packet; `None` for not at all.
    pub measures: Option<MeasurementConfig>,
    /// Whether packets come over IPv6, whose header is 20 bytes longer.
    pub ipv6: bool,
}

impl Setup {
    /// A receiver of what was agreed on over IPv4, which keeps states and measures the path where that is of use.
    pub fn new(media: Negotiated, cname: String) -> Setup {
        let (stateful, measures) = (Some(StatefulReceiver::default()), Some(MeasurementConfig::default()));
        Setup { media, cname, stateful, measures, ipv6: false }
    }

    /// The reception over this connection.
    ///
    /// # Errors
    /// When this end was to send, or neither video nor audio was agreed on.
    pub(super) fn config(&self, connection: &Connection) -> Result<Config, ConfigError> {
        let media = &self.media;
        check("direction", media.direction.name())
            .is(media.direction == Direction::ReceiveOnly, "recvonly for who receives")?;
        check("media", "nothing")
            .is(media.video.is_some() || media.audio.is_some(), "video or audio: offer a codec both ends have")?;
        let ip = if self.ipv6 { overhead::IPV6 } else { overhead::IPV4 };
        Ok(Config {
            ssrc: media.local.video,
            cname: self.cname.clone(),
            video: media.video.as_ref().map(|video| self.video(video)),
            redundancy: media.video.as_ref().and_then(|video| video.redundancy),
            audio: media.audio.as_ref().map(audio),
            around: ip + overhead::UDP + connection.srtp_overhead(),
            measures: self.measures,
            ..Config::default()
        })
    }

    fn video(&self, video: &sdp::Video) -> rtp::Video {
        let sdp::ExtensionIds { grace, states, .. } = video.extensions;
        let is_functional = video.codec == VideoCodec::Vp8 && grace.is_some() && states.is_some();
        rtp::Video {
            codec: match video.codec {
                VideoCodec::Vp8 => Codec::Vp8,
                VideoCodec::H264 => Codec::H264,
                VideoCodec::Vp9 => Codec::Vp9,
            },
            payload_type: video.payload_type,
            retransmission: video.retransmission,
            fec: video.fec,
            ssrcs: video.streams,
            mid: Some(video.mid.clone()),
            extensions: video.extensions,
            feedback: video.feedback,
            stateful: self.stateful.filter(|_| is_functional),
        }
    }
}

fn audio(audio: &sdp::Audio) -> rtp::Audio {
    rtp::Audio {
        ssrc: audio.streams.media,
        mid: Some(audio.mid.clone()),
        extensions: audio.extensions,
        ..rtp::Audio::new(audio.payload_type)
    }
}
