//! A publisher without its threads, in virtual time. For `thalweg-fuzz`.
//!
//! Requests go through the routes of the web server to the state of the network thread, which is here without its
//! thread; nobody ever connects, so what ends a session is DELETE or half a minute.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use thalweg_transport::Credentials;
use thalweg_units::{Span, Time};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::PublishError;
use super::config::{Codecs, PublishConfig};
use super::messages::Message;
use super::network::Network;
use crate::web::{
    About, Condition, Hub, Join, Joined, Limits, LinkChange, Patched, Refused, RefusedKind, Sessions, Snapshot,
    WebConfig, router,
};
use thalweg_emulate::clock::Clock;

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// The address of a new session.
    pub location: Option<String>,
    /// The tag of its ICE session.
    pub etag: Option<String>,
}

/// A viewer, as the network thread knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The id of its session.
    pub id: String,
    /// The scheme that is played to it.
    pub scheme: String,
    /// The peer's credentials.
    pub credentials: Credentials,
}

/// The state of the network thread, asked without the thread.
struct Still(Mutex<Network>);

impl Still {
    fn lock(&self) -> MutexGuard<'_, Network> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask<T>(&self, question: impl FnOnce(SyncSender<T>) -> Message) -> Option<T> {
        let (reply, answer) = sync_channel(1);
        self.lock().on_message(question(reply));
        answer.try_recv().ok()
    }
}

fn silent<T>() -> Result<T, Refused> {
    Err(Refused::new(RefusedKind::Unavailable, "no answer"))
}

impl Sessions for Still {
    fn join(&self, join: Join) -> Result<Joined, Refused> {
        self.ask(|reply| Message::Join(join, reply)).unwrap_or_else(silent)
    }

    fn patch(&self, id: &str, fragment: &str, condition: &Condition) -> Result<Patched, Refused> {
        let (id, fragment, condition) = (id.to_owned(), fragment.to_owned(), condition.clone());
        self.ask(|reply| Message::Patch { id, fragment, condition, reply }).unwrap_or_else(silent)
    }

    fn leave(&self, id: &str) -> bool {
        self.ask(|reply| Message::Leave(id.to_owned(), reply)).unwrap_or(false)
    }

    fn metrics(&self) -> String {
        self.ask(Message::Metrics).unwrap_or_default()
    }
}

impl Hub for Still {
    fn switch(&self, id: &str, scheme: &str) -> Result<(), Refused> {
        let (id, scheme) = (id.to_owned(), scheme.to_owned());
        self.ask(|reply| Message::Switch { id, scheme, reply }).unwrap_or_else(silent)
    }

    fn change_link(&self, id: &str, change: &LinkChange) -> Result<(), Refused> {
        let (id, change) = (id.to_owned(), change.clone());
        self.ask(|reply| Message::ChangeLink { id, change, reply }).unwrap_or_else(silent)
    }

    fn snapshot(&self, id: &str) -> Option<Snapshot> {
        self.ask(|reply| Message::Snapshot(id.to_owned(), reply)).flatten()
    }

    fn about(&self) -> About {
        self.ask(Message::About).unwrap_or_default()
    }
}

/// A publisher and its web server, without threads.
pub struct StillPublisher {
    hub: Arc<Still>,
    routes: TowerToHyperService<Router>,
    runtime: Runtime,
    _stop: watch::Sender<bool>,
}

impl StillPublisher {
    /// A publisher of encoded video; no picture is ever taken.
    ///
    /// # Errors
    /// When anything named in the configuration is not available.
    pub fn new(config: &PublishConfig) -> Result<StillPublisher, PublishError> {
        let Some(codecs) = config.codec.as_ref().map(Codecs::of) else {
            return Err(PublishError::Config("no codec".into()));
        };
        let made = (codecs, config.video.scene_format(), Time::ZERO);
        let (network, _) = Network::open(config, Clock::new(), made, &mut |_| Err("no trace".into()))?;
        let hub = Arc::new(Still(Mutex::new(network)));
        let (stop, stopped) = watch::channel(false);
        let web = WebConfig {
            listen: ([127, 0, 0, 1], 0).into(),
            token: None,
            metrics_token: None,
            tls: None,
            limits: Limits::default(),
            clock: Clock::new(),
        };
        let asked: Arc<dyn Hub> = hub.clone();
        let routes = TowerToHyperService::new(router(&web, &asked, &stopped));
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(StillPublisher { hub, routes, runtime, _stop: stop })
    }

    /// Sends a request; `None` if its path is no address, which is refused before it would be sent.
    pub fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: String) -> Option<Answer> {
        let request = Request::builder().method(method).uri(path).header("host", "127.0.0.1");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let request = request.body(Body::from(body)).ok()?;
        let response = match self.runtime.block_on(async { self.routes.call(request).await }) {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let header = |name: &str| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        Some(Answer { status: response.status().as_u16(), location: header("location"), etag: header("etag") })
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.hub.lock().clock.now()
    }

    /// Time passes, and the network thread does what is due then.
    pub fn pass(&self, span: Span) {
        let mut network = self.hub.lock();
        network.clock = network.clock.later(span);
        network.work();
    }

    /// The viewers, in the order in which they joined.
    pub fn viewers(&self) -> Vec<Seen> {
        let network = self.hub.lock();
        let seen = network.audience.viewers.values().map(|viewer| Seen {
            id: viewer.id.clone(),
            scheme: viewer.outgoing.scheme().name().to_owned(),
            credentials: viewer.remote.credentials.clone(),
        });
        seen.collect()
    }

    /// The names by which checks find the viewers.
    pub fn ufrags(&self) -> Vec<String> {
        self.hub.lock().audience.peers.ufrags().into_iter().map(|(ufrag, _)| ufrag.to_owned()).collect()
    }

    /// Offers of ours that nobody has answered.
    pub fn offered(&self) -> usize {
        self.hub.lock().audience.offered.len()
    }
}
