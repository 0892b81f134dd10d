//! A publisher and a watcher.

use std::path::PathBuf;
use std::sync::Arc;

use thalweg_codecs::Codec;
use thalweg_emulate::LinkConfig;
use thalweg_emulate::clock::{Clock, pause};
use thalweg_live::publish::{PublishConfig, Publisher};
use thalweg_live::watch::{Feedback, Place, Report, WatchConfig, Watcher};
use thalweg_live::web::{Server, WebConfig};
use thalweg_netsim::{HopConfig, LossModel, PathConfig, Trace};
use thalweg_sender::Scheme;
use thalweg_units::{Size, Span};
use thalweg_video::Video;

/// 8 Mbps towards the watcher, with this loss ratio, and this delay in each direction.
pub fn link(loss: f64, delay_ms: i64) -> LinkConfig {
    let delay = || HopConfig::delay(Span::from_millis(delay_ms));
    let hops = vec![
        HopConfig::Rate { rate: "8Mbps".parse().expect("a rate"), queue: Default::default() },
        HopConfig::Loss(LossModel::Random { probability: loss }),
        delay(),
    ];
    LinkConfig { up: PathConfig { hops }, down: PathConfig { hops: vec![delay()] }, ..LinkConfig::default() }
}

/// Media to send, and the scheme.
pub struct Call {
    pub source: String,
    pub codec: Option<Codec>,
    pub scheme: &'static str,
    pub link: Option<LinkConfig>,
    pub feedback: Feedback,
    pub record: Option<PathBuf>,
    pub barcode: bool,
}

impl Default for Call {
    fn default() -> Call {
        Call {
            source: "scene".into(),
            codec: Some(Codec::default()),
            scheme: "vidaptive",
            link: None,
            feedback: Feedback::Any,
            record: None,
            barcode: true,
        }
    }
}

/// The result.
pub struct Seen {
    /// The report one second after the start, when start-up is over.
    pub early: Report,
    /// The report at the end.
    pub report: Report,
    metrics: String,
}

impl Seen {
    /// A metric of the publisher at the end, summed over viewers.
    pub fn metric(&self, name: &str) -> f64 {
        self.metric_of(name, "")
    }

    /// The same of those samples that have this label.
    pub fn metric_of(&self, name: &str, label: &str) -> f64 {
        let samples = self.metrics.lines().filter(|line| line.starts_with(name) && line.contains(label));
        samples.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum()
    }
}

impl Call {
    /// Starts publishing.
    pub fn publish(&self, clock: Clock) -> (Publisher, Server) {
        let local = "127.0.0.1:0".parse().expect("an address");
        let size = self.codec.as_ref().map(|_| Size::new(640, 360));
        let mut config = PublishConfig {
            video: Video::of(self.source.clone(), size),
            barcode: self.barcode,
            audio: Some("clicks".into()),
            codec: self.codec.clone(),
            max_viewers: 2,
            ..PublishConfig::new(self.scheme.parse::<Scheme>().expect("a scheme"))
        };
        config.channels[0].link = self.link.clone();
        let mut none = |_: &str| -> Result<Arc<Trace>, String> { Err("no trace".into()) };
        let publisher = Publisher::start(config, clock, &mut none).expect("a publisher");
        let server = Server::start(WebConfig::new(local).expect("a server"), publisher.hub()).expect("a server");
        (publisher, server)
    }

    /// Continues for `span` after the connection is established.
    pub fn run(&self, span: Span) -> Seen {
        let clock = Clock::new();
        let (publisher, server) = self.publish(clock);
        let place = Place::new(&format!("http://{}/", server.address()), None, None, None).expect("an address");
        let watching = WatchConfig {
            feedback: self.feedback,
            record: self.record.clone(),
            reconnect: false,
            ..WatchConfig::new(place)
        };
        let watcher = Watcher::start(watching, clock).expect("a watcher");
        let until = clock.now() + Span::from_secs(20);
        while watcher.is_running() && watcher.report().sessions == 0 && clock.now() < until {
            pause(Span::from_millis(10));
        }
        let begin = clock.now();
        let end = begin + span;
        while watcher.is_running() && clock.now() < begin + Span::from_secs(1) {
            pause(Span::from_millis(10));
        }
        let early = watcher.report();
        while watcher.is_running() && clock.now() < end {
            pause(Span::from_millis(10));
        }
        let metrics = publisher.hub().metrics();
        let (report, ended) = watcher.finish();
        ended.expect("it was watched to the end");
        server.stop();
        Seen { early, report, metrics }
    }
}
