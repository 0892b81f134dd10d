//! Shared by `publish`, `duel`, `relay` and `call`: the video, the page, the link, and waiting for the end.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, ensure};
use thalweg_codecs::Codec;
use thalweg_emulate::clock::Clock;
use thalweg_emulate::reactor::{Poller, PollerConfig, Signals};
use thalweg_emulate::{LinkConfig, Zero};
use thalweg_lab::bound::Bound;
use thalweg_learned::onnx;
use thalweg_live::media::Repeat;
use thalweg_live::media::audio::of_video;
use thalweg_live::publish::{ChannelConfig, PublishConfig, Publisher, check_max_rate, check_size, reached_at};
use thalweg_live::web::{Server, Token, WebConfig};
use thalweg_sender::{Registry, SenderFactory};
use thalweg_units::{FrameRate, Rate, Size, Span, Time};
use thalweg_video::Video;
use thalweg_video::source::SceneConfig;

use super::access::{self, Access};
use super::addresses::{above, address, local_address};
use super::emulated::{Emulated, Link, finder};
use super::policies;
use crate::commands::values;
use crate::link;

/// Headings of the help.
const MEDIA: &str = "Video and audio";
const VIEWERS: &str = "Page and viewers";
const RECORDS: &str = "Records";

#[derive(clap::Args)]
pub(crate) struct Sending {
    /// Read options and arguments from a TOML file too, by their names, such as `source = "clip.mp4"`
    ///
    /// Those on the command line take precedence.
    // Read before the others are parsed (configured.rs).
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The address or local port that the page is served at
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS", value_parser = local_address)]
    #[arg(help_heading = VIEWERS)]
    pub(super) listen: SocketAddr,
    /// Address that media is sent from (default: the page's address and any free port)
    ///
    /// The second scheme of a duel, or seat of a call, takes the next port.
    #[arg(long, value_name = "ADDRESS", value_parser = address, help_heading = VIEWERS)]
    udp: Option<SocketAddr>,
    /// Addresses announced to viewers in place of this machine's own, such as the public address of its NAT
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',', value_parser = address, help_heading = VIEWERS)]
    pub(super) advertise: Vec<SocketAddr>,
    /// Encoder: vp8 or vp9 (libvpx), h264 (openh264), functional (our own VP8) or model (frame sizes, no pictures)
    #[arg(long, visible_alias = "codec", value_name = "ENCODER", help_heading = MEDIA)]
    pub(super) encoder: Option<Codec>,
    /// Maximum number of encoders; beyond it, viewers with similar rates share one (default: one for each viewer)
    ///
    /// Up to this number of viewers, each has an encoder of its own. Schemes that choose among frames or send layers do
    /// not share.
    #[arg(long, value_name = "COUNT", help_heading = MEDIA)]
    #[arg(value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1000))]
    encoders: Option<usize>,
    /// Scale the video to this size, such as 1280x720 or 720p
    #[arg(long, value_parser = size, help_heading = MEDIA)]
    size: Option<Size>,
    /// Frames per second: 30, 29.97 or 30000/1001 (default: a file's own, 30 for the built-in scene)
    #[arg(long, value_name = "FPS", help_heading = MEDIA)]
    frame_rate: Option<FrameRate>,
    /// The maximum number of viewers at a time
    #[arg(long, default_value_t = 16, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1000))]
    #[arg(help_heading = VIEWERS)]
    viewers: usize,
    /// Maximum rate to one viewer, such as 4Mbps, headers included
    ///
    /// Holds for every scheme and whatever the viewer reports. Default: what an encoder can use of such pictures, 0.28
    /// bits in each pixel (1.94 Mbps at 360p30, 7.74 Mbps at 720p30) and at least 600 kbps; twice the rate of frames that
    /// are sent unchanged, and 500 kbps; none over an emulated link.
    #[arg(long, value_name = "RATE", value_parser = max_rate, help_heading = VIEWERS)]
    max_rate: Option<Rate>,
    /// Maximum rate to all viewers together, such as 50Mbps
    ///
    /// Rate that one viewer does not use is free for the others.
    #[arg(long, value_name = "RATE", value_parser = max_rate, help_heading = VIEWERS)]
    max_total_rate: Option<Rate>,
    /// Token that viewers must present (default: a random one, except on loopback)
    ///
    /// Sent in the link, or as a bearer token.
    #[arg(long, conflicts_with = "open", help_heading = VIEWERS, env = "THALWEG_TOKEN", hide_env_values = true)]
    pub(super) token: Option<Token>,
    /// Let anyone who can connect watch
    #[arg(long, help_heading = VIEWERS)]
    open: bool,
    /// Serve the page by https with this certificate and those of its signers (PEM)
    #[arg(long, requires = "tls_key", value_name = "FILE", help_heading = VIEWERS)]
    tls_certificate: Option<PathBuf>,
    /// The certificate's private key (PEM)
    #[arg(long, requires = "tls_certificate", value_name = "FILE", help_heading = VIEWERS)]
    tls_key: Option<PathBuf>,
    /// Stop after this time (default: at Ctrl-C)
    #[arg(long, value_parser = values::duration)]
    pub(super) duration: Option<Span>,
    /// Capture all packets unencrypted, for Wireshark
    #[arg(long, value_name = "FILE", help_heading = RECORDS)]
    pcap: Option<PathBuf>,
    /// Folder for a qlog of each viewer: its sender's events and decisions
    #[arg(long, value_name = "FOLDER", help_heading = RECORDS)]
    qlog: Option<PathBuf>,
    /// Write logs as one JSON object per line
    #[arg(long, help_heading = RECORDS)]
    pub(super) log_json: bool,
    #[command(flatten)]
    pub(super) link: Emulated,
}

/// A size that can be encoded.
fn size(text: &str) -> Result<Size, String> {
    let size: Size = text.parse().map_err(|error: thalweg_units::ParseSizeError| error.to_string())?;
    check_size(size).map(|()| size)
}

/// A limit that leaves room for a viewer.
fn max_rate(text: &str) -> Result<Rate, String> {
    let rate: Rate = text.parse().map_err(|error: thalweg_units::ParseQuantityError| error.to_string())?;
    check_max_rate(rate).map(|()| rate)
}

/// Names and properties of the sent media, where it is this program's own.
#[derive(clap::Args)]
pub(crate) struct Played {
    /// Send a video that is already encoded, unchanged
    ///
    /// IVF of VP8 or VP9, H.264 as a byte stream (Annex B), or any file that ffmpeg can demultiplex, with its
    /// times.
    #[arg(long, conflicts_with_all = ["encoder", "encoders", "size"], help_heading = MEDIA)]
    encoded: bool,
    /// Draw each picture's number into two of its corners, from which `thalweg watch` measures latency
    ///
    /// The latency is from camera to display. The numbers cover 5 % of the picture.
    #[arg(long, help_heading = MEDIA)]
    barcode: bool,
    /// Stop at the end of the video, instead of beginning again; of an address, where it is lost
    #[arg(long, help_heading = MEDIA)]
    once: bool,
    /// Audio: `silence`, `clicks`, `tone:440`, a file, a device (`alsa:default`) or `none` (default: the video file's own)
    ///
    /// A file is an Ogg Opus file or anything that the installed ffmpeg reads. Without a file's own sound, silence is sent.
    #[arg(long, help_heading = MEDIA)]
    audio: Option<String>,
}

/// A running publisher, and the address of its page.
pub(crate) struct Running {
    pub(crate) publisher: Publisher,
    server: Server,
    duration: Option<Span>,
    clock: Clock,
}

impl Sending {
    /// Returns true if each viewer has an encoder of its own, and one whose frames a scheme can choose.
    pub(super) fn may_choose_frames(&self, played: &Played) -> bool {
        let is_vp8 = |codec: &Codec| !matches!(codec, Codec::Vp9(_) | Codec::H264(_));
        !played.encoded && self.encoders.is_none() && self.encoder.as_ref().is_none_or(is_vp8)
    }

    /// Starts to publish `source`, on one channel for each scheme.
    pub(crate) fn start(&self, source: &str, played: &Played, channels: &[(&str, &str)]) -> anyhow::Result<Running> {
        super::logs::begin(self.log_json)?;
        ensure!(!played.encoded || source != "scene", "--encoded sends a file as it is: name one before it");
        let clock = Clock::new();
        let (config, link) = self.config(title(source), channels, clock)?;
        let config = PublishConfig {
            video: Video { source: source.into(), ..config.video },
            barcode: played.barcode,
            repeat: if played.once { Repeat::Once } else { Repeat::Forever },
            audio: match &played.audio {
                Some(audio) => Some(audio.clone()).filter(|audio| audio != "none"),
                None => Some(of_video(source).into()),
            },
            codec: config.codec.filter(|_| !played.encoded),
            ..config
        };
        let publisher = Publisher::start(config, clock, &mut finder(link.as_ref()))?;
        let server = Server::start(self.web(clock, "take the video")?, publisher.hub())?;
        for address in reached_at(server.address())? {
            outln!("watch at {}", access::printed(server.link(address), self.token.as_ref()));
        }
        Ok(Running { publisher, server, duration: self.duration, clock })
    }

    /// How video is sent, on one channel for each scheme; and the link's traces.
    pub(super) fn config(
        &self,
        title: String,
        channels: &[(&str, &str)],
        clock: Clock,
    ) -> anyhow::Result<(PublishConfig, Option<Link>)> {
        let schemes: Vec<&str> = channels.iter().map(|(_, scheme)| *scheme).collect();
        let registry = registry(&schemes, clock)?;
        // Who opens the page is to see the link's story from its beginning.
        let link = if self.link.wanted() { Some(self.link.link(Zero::FirstPacket)?) } else { None };
        let channel = |(index, (name, scheme)): (usize, &(&str, &str))| -> anyhow::Result<ChannelConfig> {
            let scheme = sender(&registry, scheme)?;
            // Each channel has its own link, with its own logs.
            let own = |log: &PathBuf| {
                if channels.len() > 1 { format!("{}.{name}", log.display()).into() } else { log.clone() }
            };
            let link = link.as_ref().map(|link| &link.config);
            Ok(ChannelConfig {
                name: (*name).into(),
                scheme,
                bind: self.bind(index)?,
                advertise: self.advertise.clone(),
                link: link.map(|link| LinkConfig { log: link.log.as_ref().map(own), ..link.clone() }),
            })
        };
        let config = PublishConfig {
            title,
            video: Video {
                frame_rate: self.frame_rate.unwrap_or(FrameRate::whole(30)),
                retimed: self.frame_rate.is_some(),
                ..Video::of("", self.size)
            },
            repeat: Repeat::Forever,
            barcode: false,
            audio: None,
            codec: Some(self.encoder.clone().unwrap_or_default()),
            encoders: self.encoders,
            registry: registry.clone(),
            channels: channels.iter().enumerate().map(channel).collect::<anyhow::Result<_>>()?,
            link: link.as_ref().map(|_| self.link.words()),
            pcap: self.pcap.clone(),
            qlog: self.qlog.clone(),
            max_viewers: self.viewers,
            max_rate: self.max_rate,
            max_total_rate: self.max_total_rate,
            seed: link.as_ref().map_or(self.link.seed(), |link| link.config.seed),
        };
        Ok((config, link))
    }

    /// The page's server. `risk` is what who reads the token may do.
    pub(super) fn web(&self, clock: Clock, risk: &str) -> anyhow::Result<WebConfig> {
        let tls = access::tls(self.tls_certificate.as_ref().zip(self.tls_key.as_ref()))?;
        Access { token: self.token.as_ref(), open: self.open, tls }.serving(self.listen, clock, risk)
    }

    /// The address that the media of the channel with this index is sent from: each channel has its own socket.
    pub(super) fn bind(&self, index: usize) -> anyhow::Result<SocketAddr> {
        let Some(address) = self.udp else { return Ok(SocketAddr::new(self.listen.ip(), 0)) };
        above(address, index).context("--udp")
    }
}

impl Running {
    /// Waits until a signal, the end of the video or the given duration.
    pub(crate) fn attend(&self, on_tick: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<Ended> {
        attend(self.clock, self.duration, || self.publisher.is_running(), on_tick)
    }

    /// Says goodbye to all viewers.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        self.server.stop();
        Ok(self.publisher.finish()?)
    }
}

/// Waits until a signal, the end of what is running, or the given duration.
pub(super) fn attend(
    clock: Clock,
    duration: Option<Span>,
    is_running: impl Fn() -> bool,
    mut on_tick: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<Ended> {
    let mut signals = Signals::to_end()?;
    let mut poller = Poller::new(clock, PollerConfig::default())?;
    let end = duration.map_or(Time::NEVER, |duration| clock.now() + duration);
    loop {
        on_tick()?;
        if signals.take() {
            return Ok(Ended::BySignal);
        }
        if !is_running() || clock.now() >= end {
            return Ok(Ended::ByItself);
        }
        poller.wait(end.min(clock.now() + Span::from_millis(200)), &[&signals])?;
    }
}

/// Cause of a publisher's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Someone who had seen enough.
    BySignal,
    /// The end of the video, or of the time that was asked for.
    ByItself,
}

/// A source as the page names it.
fn title(source: &str) -> String {
    match source {
        "-" => "standard input".into(),
        source if SceneConfig::is_named_by(source) => "built-in scene".into(),
        file => link::label(file),
    }
}

/// Returns true if browsers can follow the scheme of this name, or the form of it that they are sent, which is then said.
pub(super) fn browsers_follow(name: &str) -> anyhow::Result<bool> {
    let registry = registry(&[name], Clock::new())?;
    let scheme = sender(&registry, name)?;
    let Some(form) = registry.for_standard_decoder(&scheme) else { return Ok(false) };
    if form.name() != scheme.name() {
        eprintln!("browsers are sent {}, the form of {name} that any VP8 decoder follows", form.name());
    }
    Ok(true)
}

/// Fails if browsers cannot follow the scheme of this name.
pub(super) fn check_followed(name: &str) -> anyhow::Result<()> {
    ensure!(
        browsers_follow(name)?,
        "browsers cannot follow {name}, whose receiver keeps its decoder's states: choose salsify or thalweg"
    );
    Ok(())
}

/// This crate's schemes, and policies that these names say: viewers may ask for those, and for no other file.
fn registry(names: &[&str], clock: Clock) -> anyhow::Result<Registry> {
    let mut registry = Registry::new();
    for name in names.iter().filter(|name| onnx::is_policy(name)) {
        registry.replace(policies::open(name, clock)?);
    }
    Ok(registry)
}

/// The sender of this name; a bound is none.
fn sender(registry: &Registry, name: &str) -> anyhow::Result<Arc<dyn SenderFactory>> {
    if Bound::is_named_by(name) {
        return Err(Bound::refusal(name).into());
    }
    Ok(registry.find(name)?)
}
