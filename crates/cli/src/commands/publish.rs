//! `thalweg publish`: video to browsers, over real WebRTC.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use thalweg_codecs::Codec;
use thalweg_lab::scenario::Video;
use thalweg_link::{HopConfig, Jitter, LossModel, PathConfig, QueueConfig, Rates};
use thalweg_live::clock::{Clock, pause};
use thalweg_live::emulate::LinkConfig;
use thalweg_live::publish::{ChannelConfig, PublishConfig, Publisher};
use thalweg_live::web::{Server, Token, WebConfig};
use thalweg_sender::Scheme;
use thalweg_units::{Seed, Size, Span};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The video: `scene`, `scene:easy`, a .y4m file, `-` for live y4m on standard input, or anything ffmpeg reads
    #[arg(default_value = "scene")]
    source: String,
    /// Where the page is served
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Where media leaves from; when absent the page's address and any free port
    #[arg(long)]
    udp: Option<SocketAddr>,
    /// Addresses told to viewers in the place of this machine's own: what a NAT in front of it is reached at
    #[arg(long, value_delimiter = ',')]
    advertise: Vec<SocketAddr>,
    /// What kind of sender (see `thalweg schemes`); viewers can switch
    #[arg(long, default_value = "vidaptive")]
    scheme: String,
    /// The encoder: vp8 (libvpx), h264 (openh264), functional (our own VP8), or model (zeros of modelled sizes)
    #[arg(long, visible_alias = "codec", value_name = "ENCODER")]
    encoder: Option<Codec>,
    /// The size to make the video, such as 1280x720 or 720p
    #[arg(long)]
    size: Option<Size>,
    /// Pictures a second
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=240))]
    frame_rate: Option<u32>,
    /// Leave pictures as they are: without the number in their corners the page cannot tell how late they are
    #[arg(long)]
    no_barcode: bool,
    /// The most viewers at a time
    #[arg(long, default_value_t = 16)]
    viewers: usize,
    /// What viewers must show (in the link, or as a bearer token); one is made for anything but loopback
    #[arg(long, conflicts_with = "open")]
    token: Option<Token>,
    /// Let anyone watch who can connect
    #[arg(long)]
    open: bool,
    /// Between here and the viewers, an emulated link: a trace file, a rate (2Mbps), rates in turn (2Mbps/500kbps@40s) or a synthetic link
    #[arg(long)]
    trace: Option<String>,
    /// An emulated link that sends bit after bit at a rate (1Mbps), or at rates in turn (2Mbps/1Mbps@30s)
    #[arg(long, conflicts_with = "trace")]
    rate: Option<Rates>,
    /// One-way delay of the emulated link in each direction
    #[arg(long)]
    delay: Option<Span>,
    /// Bytes the emulated link's queue holds, drop-tail; unlimited when absent
    #[arg(long)]
    queue: Option<thalweg_units::Bytes>,
    /// The share of packets that the emulated link loses, 0 to 1
    #[arg(long)]
    loss: Option<f64>,
    /// The root of what is drawn at random in scene and link
    #[arg(long, default_value_t = Seed::new(1))]
    seed: Seed,
    /// Stop after this
    #[arg(long)]
    duration: Option<Span>,
    /// Logs as one JSON object a line
    #[arg(long)]
    log_json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    crate::logs::begin(arguments.log_json);
    let scheme: Scheme = arguments.scheme.parse()?;
    let link = link(arguments);
    let config = PublishConfig {
        title: "Thalweg".into(),
        video: Video {
            source: arguments.source.clone(),
            size: arguments.size,
            frame_rate: arguments.frame_rate.unwrap_or(30),
            retimed: arguments.frame_rate.is_some(),
        },
        barcode: !arguments.no_barcode,
        audio: None,
        codec: arguments.encoder.clone().unwrap_or_default(),
        channels: vec![ChannelConfig {
            name: "main".into(),
            scheme,
            bind: arguments.udp.unwrap_or(SocketAddr::new(arguments.listen.ip(), 0)),
            advertise: arguments.advertise.clone(),
            link: link.as_ref().map(|(link, _)| link.clone()),
        }],
        link: link.map(|(_, words)| words),
        most_viewers: arguments.viewers,
        seed: arguments.seed,
    };
    let duration = arguments.duration.unwrap_or(Span::from_secs(24 * 3600));
    let mut find = |name: &str| crate::link::find(name, duration, arguments.seed).map_err(|error| format!("{error:#}"));
    let clock = Clock::new();
    let publisher = Publisher::start(config, clock, &mut find)?;
    let mut web = WebConfig::new(arguments.listen)?;
    match (&arguments.token, arguments.open) {
        (Some(token), _) => web.token = Some(token.clone()),
        (None, true) => web.token = None,
        (None, false) => {}
    }
    let token = web.token.clone();
    let server = Server::start(web, publisher.hub())?;
    let query = token.map_or(String::new(), |token| format!("?token={}", token.reveal()));
    outln!("watch at http://{}/{query}", server.address());
    wait(&publisher, clock, arguments.duration)?;
    server.stop();
    drop(publisher);
    Ok(())
}

fn wait(publisher: &Publisher, clock: Clock, duration: Option<Span>) -> anyhow::Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, stop.clone()).context("signals")?;
    }
    let begin = clock.now();
    while publisher.is_running() && !stop.load(Ordering::Relaxed) {
        if duration.is_some_and(|duration| clock.now() - begin >= duration) {
            break;
        }
        pause(Span::from_millis(50));
    }
    Ok(())
}

/// The emulated link, and what it is in words.
fn link(arguments: &Arguments) -> Option<(LinkConfig, String)> {
    let queue = arguments
        .queue
        .map_or(QueueConfig::Infinite, |bytes| QueueConfig::DropTail(thalweg_link::queue::Limits::bytes(bytes)));
    let (mut words, mut down) = (Vec::new(), Vec::new());
    if let Some(trace) = &arguments.trace {
        words.push(crate::link::label(trace));
        down.push(HopConfig::Bottleneck { trace: trace.clone(), queue, once: false });
    } else if let Some(rate) = &arguments.rate {
        words.push(rate.to_string());
        down.push(HopConfig::Rate { rate: rate.clone(), queue });
    }
    if let Some(loss) = arguments.loss {
        words.push(format!("{} % loss", loss * 100.0));
        down.push(HopConfig::Loss(LossModel::Random { probability: loss }));
    }
    let mut up = Vec::new();
    if let Some(delay) = arguments.delay {
        words.push(format!("{delay} each way"));
        let hop = HopConfig::Delay { delay, jitter: Jitter::None, reorders: false };
        down.push(hop.clone());
        up.push(hop);
    }
    let link = LinkConfig {
        up: PathConfig { hops: up },
        down: PathConfig { hops: down },
        seed: arguments.seed,
        ..LinkConfig::default()
    };
    (!words.is_empty()).then(|| (link, words.join(", ")))
}
