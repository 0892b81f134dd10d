//! What is published, and to whom.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use thalweg_codecs::Codec;
use thalweg_sender::{Registry, SenderFactory};
use thalweg_transport::sdp::VideoCodec;
use thalweg_units::{Seed, Size};
use thalweg_video::Video;

use crate::emulate::LinkConfig;

/// What is published.
#[derive(Debug, Clone)]
pub struct PublishConfig {
    /// The page's heading.
    pub title: String,
    /// What is seen.
    pub video: Video,
    /// Whether each picture carries its number, by which the peer knows how late it is ([`thalweg_video::barcode`]).
    pub barcode: bool,
    /// What is heard: a name that [`crate::media::audio`] knows; `None` for no audio at all.
    pub audio: Option<String>,
    /// What encodes it, once for each viewer; `None` when the video is encoded already ([`crate::media::encoded`]) and sent as it is.
    pub codec: Option<Codec>,
    /// Where the schemes that viewers ask for are looked up.
    pub registry: Registry,
    /// What viewers can watch; the first is what they get when they do not choose.
    pub channels: Vec<ChannelConfig>,
    /// The emulated link in words, for the page.
    pub link: Option<String>,
    /// Where all packets are captured, in the clear ([`crate::observe::Pcap`]).
    pub pcap: Option<PathBuf>,
    /// The folder for a qlog of each viewer ([`crate::observe::Qlog`]).
    pub qlog: Option<PathBuf>,
    /// Viewers beyond this are refused. Who joins and does not connect counts for 30 s: so who has the token, and sends nothing but offers,
    /// can keep newcomers out for as long as they go on. What keeps strangers from that is the token; who watches is never put out for it.
    pub max_viewers: usize,
    /// The root of the scene and of an encoder model's choices; nothing secret comes from it.
    pub seed: Seed,
}

impl PublishConfig {
    /// The built-in scene with barcodes and silence, for up to sixteen viewers of one channel, which `sender` serves over the network as it
    /// is. Set what should be otherwise.
    pub fn new(sender: impl SenderFactory + 'static) -> PublishConfig {
        let main = ChannelConfig {
            name: "main".into(),
            scheme: Arc::new(sender),
            bind: SocketAddr::from(([127, 0, 0, 1], 0)),
            advertise: Vec::new(),
            link: None,
        };
        PublishConfig {
            title: "Thalweg".into(),
            video: Video::scene(Size::HD, 30),
            barcode: true,
            audio: Some("silence".into()),
            codec: Some(Codec::default()),
            registry: Registry::new(),
            channels: vec![main],
            link: None,
            pcap: None,
            qlog: None,
            max_viewers: 16,
            seed: Seed::new(1),
        }
    }
}

/// One of the things to watch: the same video, sent by a scheme of its own through a socket of its own.
#[derive(Debug, Clone)]
pub struct ChannelConfig {
    /// Its name, of letters, digits, `-` and `_`.
    pub name: String,
    /// What kind of sender.
    pub scheme: Arc<dyn SenderFactory>,
    /// The UDP address its socket is bound to; port 0 takes a free one.
    pub bind: SocketAddr,
    /// Addresses given to viewers in the place of the socket's own: what a NAT or a relay in front of it is reached at.
    pub advertise: Vec<SocketAddr>,
    /// An emulated link between the socket and the viewers: `up` is the way of the video, `down` that of reports.
    pub link: Option<LinkConfig>,
}

impl ChannelConfig {
    /// What viewers are given, when the socket itself is reached at `own`.
    pub(super) fn advertised(&self, own: &[SocketAddr]) -> Vec<SocketAddr> {
        if self.advertise.is_empty() { own.to_vec() } else { self.advertise.clone() }
    }
}

/// What SDP calls the frames of a codec.
pub fn video_codec(codec: &Codec) -> VideoCodec {
    match codec {
        // A model's frames are zeros that pass for VP8.
        Codec::Vp8(_) | Codec::Functional(_) | Codec::Model(_) => VideoCodec::Vp8,
        Codec::Vp9(_) => VideoCodec::Vp9,
        Codec::H264(_) => VideoCodec::H264,
    }
}

/// How video is encoded, and what that is called in SDP.
#[derive(Debug, Clone)]
pub(super) struct Codecs {
    pub(super) codec: Option<Codec>,
    pub(super) offered: VideoCodec,
}

impl Codecs {
    /// What an encoder of this codec makes.
    pub(super) fn of(codec: &Codec) -> Codecs {
        Codecs { codec: Some(codec.clone()), offered: video_codec(codec) }
    }

    /// Frames that are encoded already.
    pub(super) fn passthrough(offered: VideoCodec) -> Codecs {
        Codecs { codec: None, offered }
    }
}
