//! A receiver's configuration, made from what was negotiated.

use thalweg_control::estimate::MeasurementConfig;
use thalweg_receiver::rtp::{self, Codec, Config};
use thalweg_sender::scheme::StatefulReceiver;
use thalweg_transport::Connection;
use thalweg_transport::sdp::{self, Direction, Negotiated, VideoCodec};
use thalweg_units::{ConfigError, check};
use thalweg_wire::overhead;

/// The configuration of a receiver.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The media negotiated with the peer.
    pub media: Negotiated,
    /// The CNAME in its reports (RFC 7022).
    pub cname: String,
    /// How functional video is received, if its header extensions were negotiated; `None` for a standard decoder.
    pub stateful: Option<StatefulReceiver>,
    /// How the path is measured, if that was negotiated and the sender's packets carry the bytes sent before them;
    /// `None` for no measurement.
    pub measures: Option<MeasurementConfig>,
    /// True if packets arrive over IPv6, whose header is 20 bytes longer.
    pub ipv6: bool,
}

impl Setup {
    /// A receiver over IPv4 of what was negotiated; it keeps states and measures the path if the sender supports it.
    pub fn new(media: Negotiated, cname: String) -> Setup {
        let (stateful, measures) = (Some(StatefulReceiver::for_calls()), Some(MeasurementConfig::default()));
        Setup { media, cname, stateful, measures, ipv6: false }
    }

    /// The configuration of the reception over this connection.
    ///
    /// # Errors
    /// When the negotiated direction is not `recvonly`, or neither video nor audio was negotiated.
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
            reduced_size: media.reduced_size,
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
                VideoCodec::Av1 => Codec::Av1,
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
