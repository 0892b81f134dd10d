//! A receiver, and a publisher that sends to it.

use std::net::SocketAddr;
use std::sync::Arc;

use thalweg_emulate::LinkConfig;
use thalweg_emulate::clock::{Clock, pause};
use thalweg_live::publish::{PublishConfig, Publisher, WhipSession};
use thalweg_live::receive::{Observed, ReceiveConfig, Receiver};
use thalweg_live::web::{Server, WebConfig};
use thalweg_live::whip::Endpoint;
use thalweg_netsim::{HopConfig, PathConfig, Trace};
use thalweg_sender::Scheme;
use thalweg_units::{Size, Span};
use thalweg_video::Video;

/// These rates for the video, with this delay in each direction.
pub fn link(rates: &str, delay_ms: i64) -> LinkConfig {
    let delay = || HopConfig::delay(Span::from_millis(delay_ms));
    let hops = vec![HopConfig::Rate { rate: rates.parse().expect("rates"), queue: Default::default() }, delay()];
    LinkConfig { up: PathConfig { hops }, down: PathConfig { hops: vec![delay()] }, ..LinkConfig::default() }
}

fn no_trace(_: &str) -> Result<Arc<Trace>, String> {
    Err("no trace".into())
}

/// A receiver with its server.
pub struct Receiving {
    receiver: Receiver,
    server: Server,
}

impl Receiving {
    pub fn start(config: ReceiveConfig, token: Option<&str>) -> Receiving {
        let clock = Clock::new();
        let receiver = Receiver::start(config, clock, &mut no_trace).expect("a receiver");
        let web = WebConfig {
            clock,
            token: token.map(|token| token.parse().expect("a token")),
            ..WebConfig::new(([127, 0, 0, 1], 0).into()).expect("a server")
        };
        let server = Server::start_receiving(web, receiver.hub()).expect("a server");
        Receiving { receiver, server }
    }

    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Its endpoint for a sender.
    pub fn endpoint(&self, query: &str, token: Option<&str>) -> Endpoint {
        let token = token.map(|token| token.parse().expect("a token"));
        Endpoint::new(&format!("http://{}/whip{query}", self.address()), token).expect("an endpoint")
    }

    pub fn metrics(&self) -> String {
        self.receiver.hub().metrics()
    }

    /// Waits until so many are connected.
    pub fn wait_for(&self, count: usize) {
        let clock = Clock::new();
        let connected = || self.receiver.senders().iter().filter(|sender| sender.state == "connected").count();
        while connected() < count {
            assert!(clock.now().as_secs_f64() < 20.0, "{:?}", self.receiver.senders());
            pause(Span::from_millis(20));
        }
    }

    /// Ends it; returns the senders that were here.
    pub fn finish(self) -> Vec<Observed> {
        self.server.stop();
        let (left, ended) = self.receiver.finish();
        ended.expect("it ran to its end");
        left
    }
}

/// Media to send, and the scheme. A model of an encoder, which costs nothing, sends at any rate on a machine that does
/// other things too; its frames are not decoded.
pub struct Call {
    pub codec: &'static str,
    pub scheme: &'static str,
}

impl Default for Call {
    fn default() -> Call {
        Call { codec: if cfg!(feature = "libvpx") { "vp8" } else { "functional" }, scheme: "vidaptive" }
    }
}

impl Call {
    /// Sends to this endpoint until it is dropped.
    pub fn send(&self, endpoint: &Endpoint) -> (WhipSession, Publisher) {
        let config = PublishConfig {
            video: Video::scene(Size::new(640, 360), 30),
            barcode: true,
            audio: Some("clicks".into()),
            codec: Some(self.codec.parse().expect("a codec of this build")),
            ..PublishConfig::new(self.scheme.parse::<Scheme>().expect("a scheme"))
        };
        let publisher = Publisher::start(config, Clock::new(), &mut no_trace).expect("a publisher");
        let session = publisher.whip_session(endpoint.clone()).expect("a session");
        (session, publisher)
    }

    /// Sends for `span` after the connection is established.
    pub fn run(&self, receiving: &Receiving, span: Span) -> Counted {
        self.run_with(receiving, span, |_, _| ())
    }

    /// The same, with a look at the receiver at the end.
    pub fn run_with(&self, receiving: &Receiving, span: Span, look: impl FnOnce(&Receiver, SocketAddr)) -> Counted {
        let (session, publisher) = self.send(&receiving.endpoint("", None));
        receiving.wait_for(1);
        pause(span);
        look(&receiving.receiver, receiving.address());
        let metrics = receiving.metrics();
        // The last of it may still be under way.
        let sent = publisher.hub().metrics();
        drop((session, publisher));
        Counted { metrics, sent }
    }
}

/// Counts of both sides at the end.
pub struct Counted {
    /// The receiver's metrics.
    pub metrics: String,
    sent: String,
}

impl Counted {
    /// A metric of the publisher, summed over its samples.
    pub fn sent(&self, name: &str) -> f64 {
        let samples = self.sent.lines().filter(|line| line.starts_with(name));
        samples.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum()
    }
}
