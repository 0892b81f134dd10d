//! A sender, a relay and those who watch it, in one process.

use std::path::PathBuf;
use std::sync::Arc;

use thalweg_emulate::LinkConfig;
use thalweg_emulate::clock::{Clock, pause};
use thalweg_live::publish::{ChannelConfig, PublishConfig, Publisher, WhipSession};
use thalweg_live::receive::{Observe, ReceiveConfig, SenderReport, VideoCodec};
use thalweg_live::relay::{MediaRelay, MediaRelayConfig};
use thalweg_live::watch::{Place, Report, WatchConfig, Watcher};
use thalweg_live::web::{Server, WebConfig};
use thalweg_live::whip::Endpoint;
use thalweg_netsim::{HopConfig, PathConfig, Trace};
use thalweg_sender::Scheme;
use thalweg_units::{Size, Span};
use thalweg_video::Video;

fn no_trace(_: &str) -> Result<Arc<Trace>, String> {
    Err("no trace".into())
}

fn video() -> Video {
    Video::scene(Size::new(640, 360), 30)
}

/// A relay that sends by GCC: on the channel `main` without a link, on `slow` over 200 kbps.
pub fn config(codec: Option<&str>, received: VideoCodec) -> MediaRelayConfig {
    let mut publish = PublishConfig {
        video: video(),
        codec: codec.map(|codec| codec.parse().expect("a codec of this build")),
        ..PublishConfig::new("gcc".parse::<Scheme>().expect("a scheme"))
    };
    let delay = || HopConfig::delay(Span::from_millis(10));
    let hops = vec![HopConfig::Rate { rate: "200kbps".parse().expect("a rate"), queue: Default::default() }, delay()];
    let slow = LinkConfig { up: PathConfig { hops }, down: PathConfig { hops: vec![delay()] }, ..Default::default() };
    let slow = ChannelConfig { name: "slow".into(), link: Some(slow), ..publish.channels[0].clone() };
    publish.channels.push(slow);
    let receive = ReceiveConfig { codecs: vec![received], ..ReceiveConfig::new(([127, 0, 0, 1], 0).into()) };
    MediaRelayConfig { publish, receive }
}

/// A relay with its server.
pub struct Relaying {
    pub relay: MediaRelay,
    pub server: Server,
    clock: Clock,
}

impl Relaying {
    pub fn start(config: MediaRelayConfig) -> Relaying {
        let clock = Clock::new();
        let relay = MediaRelay::start(config, clock, &mut no_trace).expect("a relay");
        let web = WebConfig { clock, ..WebConfig::new(([127, 0, 0, 1], 0).into()).expect("a server") };
        let server = Server::start_relaying(web, &relay.relayed()).expect("a server");
        Relaying { relay, server, clock }
    }

    /// The same, which keeps what comes in this folder.
    pub fn recording(config: MediaRelayConfig, folder: &std::path::Path) -> Relaying {
        let observe = Observe { record: Some(folder.to_owned()), ..Observe::default() };
        Relaying::start(MediaRelayConfig { receive: ReceiveConfig { observe, ..config.receive }, ..config })
    }

    /// Sends numbered pictures and clicks by WHIP, at 600 kbps at most.
    pub fn send(&self, codec: &str) -> (WhipSession, Publisher) {
        let config = PublishConfig {
            video: video(),
            barcode: true,
            audio: Some("clicks".into()),
            codec: Some(codec.parse().expect("a codec of this build")),
            max_rate: Some("600kbps".parse().expect("a rate")),
            ..PublishConfig::new("gcc".parse::<Scheme>().expect("a scheme"))
        };
        let publisher = Publisher::start(config, Clock::new(), &mut no_trace).expect("a publisher");
        (publisher.whip_session(self.endpoint()).expect("a session"), publisher)
    }

    /// Where its sender sends to.
    pub fn endpoint(&self) -> Endpoint {
        let address = self.server.endpoint(self.server.address(), "send/whip");
        Endpoint::new(&address, None).expect("an endpoint")
    }

    /// Watches a channel; frames as received, or pictures, go to these files.
    pub fn watch(&self, channel: &str, record: Option<PathBuf>, y4m: Option<PathBuf>) -> Watcher {
        let place = Place::new(&format!("http://{}/", self.server.address()), None, Some(channel), None);
        let config = WatchConfig { reconnect: false, record, y4m, ..WatchConfig::new(place.expect("an address")) };
        Watcher::start(config, self.clock).expect("a watcher")
    }

    /// The figures of the sender that is here.
    pub fn sender(&self) -> Option<SenderReport> {
        self.relay.receiver().senders().pop()
    }

    /// Waits until this holds.
    pub fn wait_for(&self, what: &str, holds: impl Fn() -> bool) {
        let until = self.clock.now() + Span::from_secs(20);
        while !holds() {
            assert!(self.clock.now() < until, "waiting for {what}: {:?}", self.sender());
            pause(Span::from_millis(20));
        }
    }

    /// A metric of its viewers' side, summed over its samples.
    pub fn metric(&self, name: &str) -> f64 {
        let metrics = self.relay.publisher().hub().metrics();
        let samples = metrics.lines().filter(|line| line.starts_with(name));
        samples.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum()
    }

    /// Ends it; returns the figures of the senders that were here.
    pub fn finish(self) -> Vec<SenderReport> {
        self.server.stop();
        let (left, ended) = self.relay.finish();
        ended.expect("it ran to its end");
        left.into_iter().map(|observed| observed.report).collect()
    }
}

/// Ends a watcher.
pub fn finish(watcher: Watcher) -> Report {
    let (report, ended) = watcher.finish();
    ended.expect("it was watched to the end");
    report
}

/// A folder that is removed when dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("thalweg-relay-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
