//! Sending to viewers: a camera, a sender for each viewer, encoders, and the thread that owns the sockets.
//!
//! ```text
//! camera ----- pictures ---->|                |<---- datagrams ----> sockets (one a channel, perhaps an emulated link)
//! audio ------ packets ----->| network thread |
//! encoders <-- plans --------|  (all viewers) |<---- Hub ----- web server, or a WHIP client
//!          --- frames ------>|                |----- packets and events ---> capture and qlogs
//! ```

mod admission;
mod audio;
mod backlog;
mod camera;
mod coder;
mod config;
mod error;
mod figures;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod gauges;
mod inlet;
mod keeping_up;
mod keyframes;
mod ladder;
mod messages;
mod network;
mod overload;
mod passthrough;
mod played;
mod records;
mod rung;
mod running;
mod shared;
mod shares;
mod sharing;
#[cfg(test)]
mod tests;
mod upstream;
mod viewer;
mod viewers;
mod whip;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;

use thalweg_netsim::FindTrace;
use thalweg_sender::SenderFactory;
use thalweg_sender::frames::{EncodePlan, Target};
use thalweg_sender::scheme::{ReceiverKind, known};
use thalweg_transport::Identity;
use thalweg_transport::sdp::VideoCodec;
use thalweg_units::{Rate, Size, Span, Time};
use thalweg_video::Picture;
use thalweg_video::footage::Footage;
use thalweg_video::source::Format;

use crate::web::{self, About, Hub};
use crate::whip::Endpoint;
use audio::AudioInput;
use camera::Camera;
use config::Codecs;
pub use config::{ChannelConfig, PublishConfig, video_codec};
pub use error::PublishError;
pub use inlet::Inlet;
use ladder::Ladder;
use messages::{Message, Outbox};
use network::{Channel, Network};
use records::Records;
use running::Running;
use thalweg_emulate::clock::Clock;
use thalweg_emulate::reactor::{Poller, PollerConfig, UdpConfig, UdpSocket};
use thalweg_emulate::thread::spawn;
use thalweg_emulate::{Relay, RelayConfig, Way};
pub use whip::{WhipSession, WhipState};

/// A running publisher. Dropping it says goodbye to its viewers and stops it.
pub struct Publisher {
    outbox: Outbox,
    clock: Clock,
    network: Option<JoinHandle<Result<(), PublishError>>>,
    camera: Option<Running>,
    audio: Option<Running>,
    relays: Vec<Relay>,
    addresses: Vec<SocketAddr>,
}

impl Publisher {
    /// Opens the video and the sockets and starts. `find` returns traces of emulated links by name.
    ///
    /// # Errors
    /// When anything named in the configuration is not available, with what to do about it.
    pub fn start(config: PublishConfig, clock: Clock, find: &mut FindTrace<'_>) -> Result<Publisher, PublishError> {
        check(&config)?;
        let (camera, codecs) = match &config.codec {
            Some(codec) if codec.is_model() => (Camera::blank(Footage::format_of(&config.video)?), Codecs::of(codec)),
            Some(codec) => (Camera::open(&config.video, config.barcode, config.seed)?, Codecs::of(codec)),
            None => {
                let (camera, codec) = Camera::encoded(&config.video.source, config.video.scene_format())?;
                (camera, Codecs::passthrough(codec))
            }
        };
        let audio = config.audio.as_deref().map(AudioInput::open).transpose().map_err(PublishError::Audio)?;
        // Pictures start a moment from now, when everything is ready.
        let begin = clock.now() + Span::from_millis(50);
        // From here on, an early return drops the publisher, which stops what was started.
        let mut publisher = Publisher::begin(&config, clock, (codecs, camera.format(), begin), find)?;
        let (taken, ended) = (publisher.outbox.clone(), publisher.outbox.clone());
        let take = move |picture| taken.send(Message::Picture(picture));
        let end = move |why| ended.send(Message::CameraEnded(why));
        publisher.camera = Some(camera.start(clock, begin, take, end)?);
        if let Some(microphone) = audio {
            let (taken, ended) = (publisher.outbox.clone(), publisher.outbox.clone());
            let take = move |audio| taken.send(Message::Audio(audio));
            let end = move |why| ended.send(Message::AudioEnded(why));
            publisher.audio = Some(microphone.start(clock, begin, take, end)?);
        }
        Ok(publisher)
    }

    /// Starts to publish what its [`Inlet`] is given: pictures to encode, or, if `config.codec` is `None`, frames of the
    /// codec `passed`, which are sent as they are. Of `config.video` only size and rate count, the largest size that is
    /// sent and the rate that is expected, and of `config.audio` whether there is any.
    ///
    /// # Errors
    /// When anything named in the configuration is not available, with what to do about it.
    pub fn fed(
        config: &PublishConfig,
        passed: VideoCodec,
        clock: Clock,
        find: &mut FindTrace<'_>,
    ) -> Result<(Publisher, Inlet), PublishError> {
        check(config)?;
        let codecs = config.codec.as_ref().map_or(Codecs::relayed(passed), Codecs::of);
        let format = config.video.scene_format();
        let publisher = Publisher::begin(config, clock, (codecs, format, clock.now()), find)?;
        let inlet = Inlet::new(publisher.outbox.clone(), format.size);
        Ok((publisher, inlet))
    }

    /// Opens the sockets and starts the network thread.
    fn begin(
        config: &PublishConfig,
        clock: Clock,
        (codecs, format, begin): (Codecs, Format, Time),
        find: &mut FindTrace<'_>,
    ) -> Result<Publisher, PublishError> {
        // A combination that no viewer could receive is an error now, instead of for each viewer.
        if let Some(codec) = &config.codec {
            let plan = EncodePlan::new(vec![Target::Rate(Rate::from_kbps(500))], format.size, format.interval());
            let grey = Picture::filled(format.size, 128, 128, 128);
            codec.build_seeded(format.size, config.seed)?.encoder.candidates(&grey, &plan)?;
        }
        let (network, relays) = assemble(config, clock, (codecs, format, begin), find)?;
        let addresses = network.channels.iter().map(|channel| channel.socket.local_address()).collect();
        let outbox = network.outbox.clone();
        let network = Some(spawn("network", move || network.run())?);
        Ok(Publisher { outbox, clock, network, camera: None, audio: None, relays, addresses })
    }

    /// The interface for a web server.
    pub fn hub(&self) -> Arc<dyn Hub> {
        Arc::new(self.outbox.clone())
    }

    /// Sends to a WHIP server too, until the session is dropped; drop it before the publisher.
    ///
    /// # Errors
    /// When the system has no random numbers or cannot start a thread.
    pub fn whip_session(&self, endpoint: Endpoint) -> Result<WhipSession, PublishError> {
        WhipSession::start(endpoint, self.outbox.clone(), self.clock)
    }

    /// The UDP address of each channel's socket.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The emulated links of the channels that have one.
    pub fn relays(&self) -> &[Relay] {
        &self.relays
    }

    /// Returns true while it runs: it stops when the video ends.
    pub fn is_running(&self) -> bool {
        self.network.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Says goodbye to all viewers and stops, unless it has stopped already.
    ///
    /// # Errors
    /// The error that had stopped it before: the video could not be read any more, or a system call failed.
    pub fn finish(mut self) -> Result<(), PublishError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), PublishError> {
        (self.camera, self.audio) = (None, None);
        let Some(thread) = self.network.take() else { return Ok(()) };
        self.outbox.send(Message::Stop);
        thread.join().unwrap_or(Err(PublishError::Panicked))
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        // A caller that needs the result has called `finish`.
        let _ = self.end();
    }
}

/// The initial state of the network thread, and the emulated links in front of it.
fn assemble(
    config: &PublishConfig,
    clock: Clock,
    (codecs, format, begin): (Codecs, Format, Time),
    find: &mut FindTrace<'_>,
) -> Result<(Network, Vec<Relay>), PublishError> {
    let poller = Poller::new(clock, PollerConfig::default())?;
    let (outbox, inbox) = Outbox::new(poller.waker());
    let records = Records::open(config.pcap.as_ref(), config.qlog.as_ref(), clock)?;
    let (mut channels, mut relays) = (Vec::new(), Vec::new());
    for channel in &config.channels {
        let (channel, relay) = open(channel, clock, find)?;
        channels.push(channel);
        relays.extend(relay);
    }
    let network = Network {
        clock,
        poller,
        inbox,
        outbox,
        identity: Identity::generate()?,
        channels,
        registry: config.registry.clone(),
        codecs,
        format,
        audio: config.audio.is_some(),
        max_viewers: config.max_viewers,
        max_rate: config.max_rate,
        max_total_rate: config.max_total_rate,
        shared_out: begin,
        audience_changed: false,
        false_acknowledgements: 0,
        about: about(config, &clock, begin, format),
        seed: config.seed,
        viewers: Default::default(),
        news: Default::default(),
        offered: Default::default(),
        peers: Default::default(),
        frame_cache: Default::default(),
        ladder: config.encoders.map(Ladder::new),
        shared: Default::default(),
        upstream: Default::default(),
        placed: begin,
        next_key: 0,
        next_picture: 0,
        missed: 0,
        camera: Default::default(),
        begin,
        judged: begin,
        from_unknown_sources: 0,
        records,
        ended: None,
    };
    Ok((network, relays))
}

fn check(config: &PublishConfig) -> Result<(), PublishError> {
    let wrong = |message: String| Err(PublishError::Config(message));
    if config.channels.is_empty() {
        return wrong("there is no channel; at least one is needed".into());
    }
    if config.max_viewers == 0 {
        return wrong("max_viewers is 0, must be at least 1".into());
    }
    for (field, rate) in [("max_rate", config.max_rate), ("max_total_rate", config.max_total_rate)] {
        if let Some(rate) = rate.filter(|rate| *rate < shares::LEAST) {
            return wrong(format!("{field} is {rate}, must be at least {}", shares::LEAST));
        }
    }
    for (index, channel) in config.channels.iter().enumerate() {
        let name = &channel.name;
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)) {
            return wrong(format!("a channel's name is {name:?}, must be of letters, digits, - and _"));
        }
        if config.channels[..index].iter().any(|other| other.name == *name) {
            return wrong(format!("two channels are named {name:?}; each needs a name of its own"));
        }
        coder::wants_candidates(config.codec.as_ref(), &*channel.scheme, Size::HD).map_err(PublishError::Config)?;
    }
    Ok(())
}

/// Returns true if a scheme needs a stateful receiver.
fn is_stateful(scheme: &dyn SenderFactory) -> bool {
    matches!(scheme.receiver(), ReceiverKind::Stateful(_))
}

fn open(
    config: &ChannelConfig,
    clock: Clock,
    find: &mut FindTrace<'_>,
) -> Result<(Channel, Option<Relay>), PublishError> {
    let bind = |error| PublishError::Bind { address: config.bind, error };
    let socket = UdpSocket::bind(config.bind, &UdpConfig::default()).map_err(bind)?;
    let local = socket.local_address();
    let candidates = reached_at(local)?;
    let mut config = config.clone();
    let link = config.link.take();
    let relay = match link {
        None => None,
        Some(link) => {
            let Some(first) = candidates.first() else {
                return Err(PublishError::Config(format!(
                    "{local} is reached at no address: choose one of this machine"
                )));
            };
            let listen = SocketAddr::new(first.ip(), 0);
            // For a relay the side that sends first are the clients; here these are the viewers.
            let relay = RelayConfig {
                link: link.adjustable(),
                clock,
                clients_send: Way::Down,
                ..RelayConfig::new(listen, *first)
            };
            let relay = Relay::start(&relay, find)?;
            config.advertise = vec![relay.address()];
            Some(relay)
        }
    };
    let scheme = config.scheme.clone();
    let link = relay.as_ref().map(Relay::link);
    Ok((Channel { config, scheme, socket, candidates, link }, relay))
}

/// The addresses at which a socket bound to `local` is reached: `local` itself, or, if it is a wildcard, every address
/// of this machine of the same family; loopback last, as other machines cannot reach it.
///
/// # Errors
/// When the system cannot list its addresses.
pub fn reached_at(local: SocketAddr) -> Result<Vec<SocketAddr>, PublishError> {
    if !local.ip().is_unspecified() {
        return Ok(vec![local]);
    }
    let interfaces = nix::ifaddrs::getifaddrs().map_err(std::io::Error::from)?;
    let address = |interface: nix::ifaddrs::InterfaceAddress| -> Option<IpAddr> {
        let address = interface.address?;
        let v4 = address.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
        v4.or_else(|| address.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip())))
    };
    let usable = |ip: &IpAddr| match ip {
        IpAddr::V4(v4) => local.is_ipv4() && !v4.is_link_local(),
        IpAddr::V6(v6) => local.is_ipv6() && !v6.is_unicast_link_local(),
    };
    let mut found: Vec<IpAddr> = Vec::new();
    for ip in interfaces.filter_map(address).filter(usable) {
        if !found.contains(&ip) {
            found.push(ip);
        }
    }
    found.sort_by_key(IpAddr::is_loopback);
    Ok(found.into_iter().map(|ip| SocketAddr::new(ip, local.port())).collect())
}

fn about(config: &PublishConfig, clock: &Clock, begin: Time, format: Format) -> About {
    let (size, interval) = (format.size, format.interval());
    let codec = config.codec.as_ref();
    let playable = config.registry.names().filter(|name| {
        let suits =
            |scheme: &dyn SenderFactory| !is_stateful(scheme) && coder::wants_candidates(codec, scheme, size).is_ok();
        config.registry.find(name).is_ok_and(|scheme| suits(&*scheme))
    });
    let epoch = clock.wall(begin).duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let channel = |channel: &ChannelConfig| web::Channel {
        name: channel.name.clone(),
        scheme: channel.scheme.name().to_string(),
        switchable: true,
    };
    let line = |name: &str| {
        let about = known().iter().find(|known| known.name == name).map_or("", |known| known.about);
        web::SchemeLine { name: name.into(), about: about.into() }
    };
    About {
        title: config.title.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        channels: config.channels.iter().map(channel).collect(),
        schemes: playable.map(line).collect(),
        width: size.width,
        height: size.height,
        frame_interval_ms: interval.as_millis_f64(),
        barcodes: config.barcode && config.codec.as_ref().is_some_and(|codec| !codec.is_model()),
        epoch_ms: epoch.as_nanos() as f64 / 1e6,
        link: config.link.clone(),
        feedback_on_request: true,
    }
}
