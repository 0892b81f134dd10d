//! Shared by `publish` and `duel`: the video, the page, the link, and waiting for the end.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use thalweg_codecs::Codec;
use thalweg_lab::bound::Bound;
use thalweg_live::clock::Clock;
use thalweg_live::emulate::LinkConfig;
use thalweg_live::publish::{ChannelConfig, PublishConfig, Publisher, reached_at};
use thalweg_live::reactor::{Poller, PollerConfig, Signals};
use thalweg_live::web::{Server, Token, WebConfig};
use thalweg_sender::scheme::ReceiverKind;
use thalweg_sender::{Registry, SenderFactory};
use thalweg_units::{FrameRate, Size, Span, Time};
use thalweg_video::Video;
use thalweg_video::source::SceneConfig;

use super::addresses::{address, local_address};
use super::emulated::Emulated;
use crate::commands::values;
use crate::link;

/// Headings of the help.
const MEDIA: &str = "Video and audio";
const VIEWERS: &str = "Page and viewers";
const RECORDS: &str = "Records";

#[derive(clap::Args)]
pub(crate) struct Sending {
    /// The address or local port that the page is served at
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS", value_parser = local_address)]
    #[arg(help_heading = VIEWERS)]
    listen: SocketAddr,
    /// The address that media is sent from; when absent the page's address and any free port
    ///
    /// The second scheme of a duel takes the next port.
    #[arg(long, value_name = "ADDRESS", value_parser = address, help_heading = VIEWERS)]
    udp: Option<SocketAddr>,
    /// Addresses given to viewers in place of this machine's own, such as the public address of a NAT in front of it
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',', value_parser = address, help_heading = VIEWERS)]
    advertise: Vec<SocketAddr>,
    /// The encoder: vp8 or vp9 (libvpx), h264 (openh264), functional (our own VP8), or model (zeros of modelled sizes)
    #[arg(long, visible_alias = "codec", value_name = "ENCODER", help_heading = MEDIA)]
    encoder: Option<Codec>,
    /// The video is already encoded and is sent unchanged
    ///
    /// IVF of VP8 or VP9, H.264 as a byte stream (Annex B), or what ffmpeg can demultiplex.
    #[arg(long, conflicts_with_all = ["encoder", "size"], help_heading = MEDIA)]
    encoded: bool,
    /// Scale the video to this size, such as 1280x720 or 720p
    #[arg(long, help_heading = MEDIA)]
    size: Option<Size>,
    /// Frames per second: 30, 29.97 or 30000/1001; when absent a file's own, or 30 for the built-in scene
    #[arg(long, value_name = "FPS", help_heading = MEDIA)]
    frame_rate: Option<FrameRate>,
    /// Draw each picture's number into two of its corners, from which `thalweg watch` measures latency
    ///
    /// From camera to display. They cover 5 % of the picture.
    #[arg(long, help_heading = MEDIA)]
    barcode: bool,
    /// The audio: `silence`, `clicks`, `tone:440`, an Ogg Opus file, a device (`alsa:default`), anything ffmpeg reads,
    /// or `none`
    #[arg(long, default_value = "silence", help_heading = MEDIA)]
    audio: String,
    /// The maximum number of viewers at a time
    #[arg(long, default_value_t = 16, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1000))]
    #[arg(help_heading = VIEWERS)]
    viewers: usize,
    /// The token that viewers must present; when absent one is generated, except on loopback
    ///
    /// It is in the link, or a bearer token.
    #[arg(long, conflicts_with = "open", help_heading = VIEWERS)]
    token: Option<Token>,
    /// Let anyone who can connect watch
    #[arg(long, help_heading = VIEWERS)]
    open: bool,
    /// Stop after this time; without it, at Ctrl-C
    #[arg(long, value_parser = values::duration)]
    duration: Option<Span>,
    /// Capture all packets unencrypted, for Wireshark
    #[arg(long, value_name = "FILE", help_heading = RECORDS)]
    pcap: Option<PathBuf>,
    /// A folder for a qlog of each viewer: its sender's events and decisions
    #[arg(long, value_name = "FOLDER", help_heading = RECORDS)]
    qlog: Option<PathBuf>,
    /// Write logs as one JSON object per line
    #[arg(long, help_heading = RECORDS)]
    log_json: bool,
    #[command(flatten)]
    pub(super) link: Emulated,
}

/// A running publisher, and the address of its page.
pub(crate) struct Running {
    pub(crate) publisher: Publisher,
    server: Server,
    duration: Option<Span>,
    clock: Clock,
}

impl Sending {
    /// Starts to publish `source`, on one channel for each scheme.
    pub(crate) fn start(&self, source: &str, channels: &[(&str, &str)]) -> anyhow::Result<Running> {
        super::logs::begin(self.log_json)?;
        let registry = Registry::new();
        let link = if self.link.wanted() { Some(self.link.link()?) } else { None };
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
            title: title(source),
            video: Video {
                source: source.into(),
                size: self.size,
                frame_rate: self.frame_rate.unwrap_or(FrameRate::whole(30)),
                retimed: self.frame_rate.is_some(),
            },
            barcode: self.barcode,
            audio: Some(self.audio.clone()).filter(|audio| audio != "none"),
            codec: (!self.encoded).then(|| self.encoder.clone().unwrap_or_default()),
            registry: registry.clone(),
            channels: channels.iter().enumerate().map(channel).collect::<anyhow::Result<_>>()?,
            link: link.as_ref().map(|_| self.link.words()),
            pcap: self.pcap.clone(),
            qlog: self.qlog.clone(),
            max_viewers: self.viewers,
            seed: link.as_ref().map_or(self.link.seed(), |link| link.config.seed),
        };
        let clock = Clock::new();
        let mut find = |name: &str| match &link {
            Some(link) => link.find(name),
            None => Err(format!("no trace '{name}' without a link")),
        };
        let publisher = Publisher::start(config, clock, &mut find)?;
        let mut web = WebConfig { clock, ..WebConfig::new(self.listen)? };
        match (&self.token, self.open) {
            (Some(token), _) => web.token = Some(token.clone()),
            (None, true) => web.token = None,
            (None, false) => {}
        }
        let token = web.token.clone();
        let server = Server::start(web, publisher.hub())?;
        let query = token.map_or(String::new(), |token| format!("?token={}", token.reveal()));
        for address in reached_at(server.address())? {
            outln!("watch at http://{address}/{query}");
        }
        Ok(Running { publisher, server, duration: self.duration, clock })
    }

    /// The address that the media of the channel with this index is sent from: each channel has its own socket.
    fn bind(&self, index: usize) -> anyhow::Result<SocketAddr> {
        let Some(mut address) = self.udp else { return Ok(SocketAddr::new(self.listen.ip(), 0)) };
        if address.port() != 0 {
            let port = u16::try_from(usize::from(address.port()) + index);
            address.set_port(port.with_context(|| format!("--udp is {address}, must leave room for a port above it"))?);
        }
        Ok(address)
    }
}

impl Running {
    /// Waits until a signal, the end of the video or the given duration; then says goodbye to all viewers.
    pub(crate) fn wait(self, mut on_tick: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<Ended> {
        let mut signals = Signals::to_end()?;
        let mut poller = Poller::new(self.clock, PollerConfig::default())?;
        let end = self.duration.map_or(Time::NEVER, |duration| self.clock.now() + duration);
        let ended = loop {
            on_tick()?;
            if signals.take() {
                break Ended::BySignal;
            }
            if !self.publisher.is_running() || self.clock.now() >= end {
                break Ended::ByItself;
            }
            poller.wait(end.min(self.clock.now() + Span::from_millis(200)), &[&signals])?;
        };
        self.server.stop();
        // The tick handler may own a WHIP session, which must say goodbye before the publisher stops.
        drop(on_tick);
        self.publisher.finish()?;
        Ok(ended)
    }
}

/// What ended a publisher.
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

/// Whether the scheme of this name needs a stateful receiver.
pub(crate) fn is_stateful(name: &str) -> anyhow::Result<bool> {
    let scheme = sender(&Registry::new(), name)?;
    Ok(matches!(scheme.receiver(), ReceiverKind::Stateful(_)))
}

/// The sender of this name; a bound is none.
fn sender(registry: &Registry, name: &str) -> anyhow::Result<Arc<dyn SenderFactory>> {
    if Bound::is_named_by(name) {
        return Err(Bound::refusal(name).into());
    }
    Ok(registry.find(name)?)
}
