//! Configuration of a publisher: media, channels, limits.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use thalweg_codecs::Codec;
use thalweg_sender::{Registry, SenderFactory};
use thalweg_transport::sdp::VideoCodec;
use thalweg_units::{Rate, Seed, Size};
use thalweg_video::Video;

use super::ceilings;
use crate::media::Repeat;
use thalweg_emulate::LinkConfig;

/// Pixels of the largest picture that is encoded live: those of VP9's highest level, 6.2 (VP9 bitstream specification, annex A),
/// and of H.264's, whose 139,264 macroblocks are as many (ITU-T H.264 table A-1).
const MOST_PIXELS: u64 = 35_651_584;

/// Checks that pictures of this size can be encoded for viewers.
///
/// # Errors
/// When they are larger than those of any level of VP9 and H.264: a second of such pictures takes an encoder minutes.
pub fn check_size(size: Size) -> Result<(), String> {
    let pixels = size.pixels();
    if pixels <= MOST_PIXELS {
        return Ok(());
    }
    let [millions, most] = [pixels, MOST_PIXELS].map(|pixels| pixels as f64 / 1e6);
    Err(format!(
        "{size} has {millions:.1} million pixels, must have at most {most:.1}, as many as any level of VP9 and H.264 has, such \
         as 7680x4320"
    ))
}

/// Checks a limit of what viewers are sent.
///
/// # Errors
/// When it leaves no room for a single viewer.
pub fn check_max_rate(rate: Rate) -> Result<(), String> {
    let least = ceilings::LEAST;
    (rate >= least).then_some(()).ok_or(format!("{rate} is too little for a viewer, must be at least {least}"))
}

/// The configuration of a publisher.
#[derive(Debug, Clone)]
pub struct PublishConfig {
    /// Title for the page's heading.
    pub title: String,
    /// The video source.
    pub video: Video,
    /// Behaviour at the end of a file. Live sources end where they end, unless they are addresses that are to be repeated:
    /// these are opened again.
    pub repeat: Repeat,
    /// Draws a number into each picture, from which the receiver measures latency ([`thalweg_video::barcode`]).
    pub barcode: bool,
    /// The audio source: a name that [`crate::media::audio`] knows; `None` for no audio. If it is the video's name too, both
    /// begin again together.
    pub audio: Option<String>,
    /// The video codec; `None` when the video is already encoded
    /// ([`crate::media::encoded`]) and sent unchanged.
    pub codec: Option<Codec>,
    /// The most encoders for viewers whose schemes can share one: while no more of them are here each has its own, from
    /// one more on they share. `None` for an encoder for each viewer.
    pub encoders: Option<usize>,
    /// The registry for the schemes that viewers request.
    pub registry: Registry,
    /// Channels that viewers can watch; the first is the default.
    pub channels: Vec<ChannelConfig>,
    /// The emulated link as text, for the page.
    pub link: Option<String>,
    /// File for a capture of all packets, unencrypted ([`crate::observe::Pcap`]).
    pub pcap: Option<PathBuf>,
    /// The folder for a qlog of each viewer ([`crate::observe::Qlog`]).
    pub qlog: Option<PathBuf>,
    /// The maximum number of viewers; more are refused. A viewer that joins and does not connect counts for 30 s, so a
    /// client that has the token can keep new viewers out by sending offers continuously. Only the token prevents that;
    /// connected viewers are never removed to make room.
    pub max_viewers: usize,
    /// The most that one viewer may be sent, from the IP header on, at least 100 kbps. `None` for what an encoder can use of
    /// such pictures, 0.28 bits in each pixel and at least 600 kbps; where a link is emulated or frames are passed as they
    /// are, for what the scheme wants (12 Mbps of video, FEC and padding besides).
    pub max_rate: Option<Rate>,
    /// The most that all viewers together may be sent; `None` for no limit. What one does not use the others may. At least
    /// 100 kbps, and one more viewer is refused where it would leave less than that for each.
    pub max_total_rate: Option<Rate>,
    /// The seed of the scene and of an encoder model's choices; no secret is derived from it.
    pub seed: Seed,
}

impl PublishConfig {
    /// The built-in scene and silence, for up to sixteen viewers of one channel, sent by `sender` without
    /// an emulated link. Change the fields as needed.
    pub fn new(sender: impl SenderFactory + 'static) -> PublishConfig {
        let main = ChannelConfig {
            name: "main".into(),
            scheme: Arc::new(sender),
            bind: SocketAddr::from(([127, 0, 0, 1], 0)),
            advertise: Vec::new(),
            link: None,
        };
        PublishConfig {
            title: "built-in scene".into(),
            video: Video::scene(Size::HD, 30),
            repeat: Repeat::Forever,
            barcode: false,
            audio: Some("silence".into()),
            codec: Some(Codec::default()),
            encoders: None,
            registry: Registry::new(),
            channels: vec![main],
            link: None,
            pcap: None,
            qlog: None,
            max_viewers: 16,
            max_rate: None,
            max_total_rate: None,
            seed: Seed::new(1),
        }
    }
}

/// One of the things to watch: the same video, sent by its own scheme through its own socket.
#[derive(Debug, Clone)]
pub struct ChannelConfig {
    /// Its name: letters, digits, `-` and `_`.
    pub name: String,
    /// The sender's scheme.
    pub scheme: Arc<dyn SenderFactory>,
    /// The UDP address its socket is bound to; port 0 takes a free one.
    pub bind: SocketAddr,
    /// Addresses given to viewers in place of the socket's own, such as those of a NAT or a relay in front of it.
    pub advertise: Vec<SocketAddr>,
    /// An emulated link between the socket and the viewers: `up` carries the video, `down` the feedback.
    pub link: Option<LinkConfig>,
}

impl ChannelConfig {
    /// The addresses given to viewers, when the socket itself is reached at `own`.
    pub(super) fn advertised(&self, own: &[SocketAddr]) -> Vec<SocketAddr> {
        if self.advertise.is_empty() { own.to_vec() } else { self.advertise.clone() }
    }
}

/// The SDP name of a codec's frames.
pub fn video_codec(codec: &Codec) -> VideoCodec {
    match codec {
        // A model's frames are zeros, sent as VP8.
        Codec::Vp8(_) | Codec::Functional(_) | Codec::Model(_) | Codec::Traffic(_) => VideoCodec::Vp8,
        Codec::Vp9(_) => VideoCodec::Vp9,
        Codec::H264(_) => VideoCodec::H264,
    }
}

/// How video is encoded, and its SDP name.
#[derive(Debug, Clone)]
pub(super) struct Codecs {
    pub(super) codec: Option<Codec>,
    pub(super) offered: VideoCodec,
    /// True if encoded frames come from a sender that can be asked for keyframes, and not from a file.
    pub(super) relayed: bool,
}

impl Codecs {
    /// The output of an encoder of this codec.
    pub(super) fn of(codec: &Codec) -> Codecs {
        Codecs { codec: Some(codec.clone()), offered: video_codec(codec), relayed: false }
    }

    /// The frames of a file.
    pub(super) fn passthrough(offered: VideoCodec) -> Codecs {
        Codecs { codec: None, offered, relayed: false }
    }

    /// The frames of somebody who sends.
    pub(super) fn relayed(offered: VideoCodec) -> Codecs {
        Codecs { relayed: true, ..Codecs::passthrough(offered) }
    }
}
