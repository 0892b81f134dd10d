//! The viewers of a publisher as the web server's clients see them: any requests in any order, in virtual time. For
//! `thalweg-fuzz`.
//!
//! Requests go through the routes of the server to the state of the network thread, which is here without its thread;
//! nobody ever connects, so what ends a session is DELETE or half a minute. A model of a few lines says what must come
//! of each request.

use std::collections::BTreeMap;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::response::Response;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use thalweg_sender::{Registry, Scheme, SenderFactory};
use thalweg_transport::sdp::fragment::{self, Fragment};
use thalweg_transport::sdp::{self, Capabilities, Direction, Local};
use thalweg_transport::{Credentials, DtlsRole, Fingerprint};
use thalweg_units::{Seed, Size, Span, Time};
use thalweg_video::Video;
use tokio::sync::watch;

use super::config::Codecs;
use super::messages::Message;
use super::network::Network;
use super::{ChannelConfig, PublishConfig, assemble};
use crate::joining::stream_ids;
use crate::web::{
    About, Condition, Hub, Join, Joined, Limits, LinkChange, Patched, Refused, Sessions, Snapshot, WebConfig, router,
};
use thalweg_emulate::clock::Clock;

/// As many viewers as there may be.
const MOST: usize = 3;
/// How long a viewer that does not connect stays ([`Config::connect`](thalweg_transport::Config::connect)), and how long
/// the requests before that may take.
const STAYS: Span = Span::from_secs(30);
const SLACK: Span = Span::from_secs(5);

/// One request, or time that passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// POST an offer: one that can be answered, or this text.
    Join {
        /// The text, if it is not a good offer.
        text: Option<String>,
        /// The path after `/whep`: `/CHANNEL?scheme=NAME`.
        path: String,
    },
    /// PATCH a viewer, counted from the first that joined.
    Patch {
        /// Which viewer.
        who: usize,
        /// Kind of the fragment.
        what: Patch,
        /// Value of If-Match.
        condition: Tag,
    },
    /// DELETE a viewer.
    Leave(usize),
    /// POST the name of a scheme.
    Switch(usize, String),
    /// POST a change of the emulated link, of which there is none.
    ChangeLink(usize, String),
    /// GET a path.
    Get(String),
    /// So many seconds pass.
    Pass(u8),
}

/// A fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Patch {
    /// Another candidate for the present session.
    Candidate,
    /// New credentials.
    Restart,
    /// New credentials with a candidate that cannot be read.
    BadRestart,
    /// Any text.
    Text(String),
}

/// A condition of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tag {
    /// None.
    Missing,
    /// `*`.
    Any,
    /// Tag of the present session.
    Present,
    /// Another.
    Stale,
}

/// The state of the network thread, asked without the thread.
struct Still(Mutex<Network>);

impl Still {
    fn lock(&self) -> MutexGuard<'_, Network> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sessions for Still {
    fn join(&self, join: Join) -> Result<Joined, Refused> {
        let mut network = self.lock();
        let now = network.clock.now();
        network.join(now, &join)
    }

    fn patch(&self, id: &str, fragment: &str, condition: &Condition) -> Result<Patched, Refused> {
        let mut network = self.lock();
        let now = network.clock.now();
        network.patch(now, id, fragment, condition)
    }

    fn leave(&self, id: &str) -> bool {
        let (reply, answer) = sync_channel(1);
        self.lock().on_message(Message::Leave(id.to_owned(), reply));
        answer.recv().unwrap_or(false)
    }

    fn metrics(&self) -> String {
        let network = self.lock();
        network.metrics(network.clock.now())
    }
}

impl Hub for Still {
    fn switch(&self, id: &str, scheme: &str) -> Result<(), Refused> {
        let mut network = self.lock();
        let now = network.clock.now();
        network.switch(now, id, scheme)
    }

    fn change_link(&self, id: &str, change: &LinkChange) -> Result<(), Refused> {
        self.lock().change_link(id, change)
    }

    fn snapshot(&self, id: &str) -> Option<Snapshot> {
        let (reply, answer) = sync_channel(1);
        self.lock().on_message(Message::Snapshot(id.to_owned(), reply));
        answer.recv().ok().flatten()
    }

    fn about(&self) -> About {
        self.lock().about.clone()
    }
}

/// A viewer, as the model has it.
struct Seen {
    joined: Time,
    etag: u64,
    credentials: Credentials,
}

/// A publisher without threads, and the model of its viewers.
struct World {
    hub: Arc<Still>,
    routes: TowerToHyperService<Router>,
    /// Those who are here, and all who ever were, in their order.
    here: BTreeMap<String, Seen>,
    ever: Vec<String>,
    restarts: u32,
    _stop: watch::Sender<bool>,
}

/// Asks all of it in order.
///
/// # Panics
/// When an answer is not what the model says, or the state is not as large as the number of viewers.
pub fn play(asked: &[Ask]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut world = World::new();
    for ask in asked {
        runtime.block_on(world.ask(ask));
        world.check(ask);
    }
    // Whoever is here and never connects goes.
    runtime.block_on(world.ask(&Ask::Pass(36)));
    assert!(world.hub.lock().viewers.len() == 0, "somebody stays for ever");
    world.check(&Ask::Pass(36));
}

impl World {
    fn new() -> World {
        let config = PublishConfig {
            title: "fuzz".into(),
            video: Video::scene(Size::HD, 30),
            barcode: false,
            audio: None,
            codec: Some("model".parse().expect("a codec")),
            registry: Registry::new(),
            channels: ["main", "other"].map(channel).into(),
            link: None,
            pcap: None,
            qlog: None,
            max_viewers: MOST,
            encoders: None,
            max_rate: None,
            max_total_rate: None,
            seed: Seed::new(1),
        };
        let codecs = config.codec.as_ref().map(Codecs::of).expect("a codec");
        let made = (codecs, config.video.scene_format(), Time::ZERO);
        let (network, _) = assemble(&config, Clock::new(), made, &mut |_| Err("no trace".into())).expect("a network");
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
        World { hub, routes, here: BTreeMap::new(), ever: Vec::new(), restarts: 0, _stop: stop }
    }

    async fn ask(&mut self, ask: &Ask) {
        let now = self.hub.lock().clock.now();
        match ask {
            Ask::Join { text, path } => {
                let ours = credentials(0);
                let is_good = text.is_none();
                let text = text.clone().unwrap_or_else(|| offer(&ours));
                let response =
                    self.send("POST", &format!("/whep{path}"), &[("content-type", "application/sdp")], text).await;
                if response.status() == StatusCode::CREATED {
                    assert!(self.here.len() < MOST, "one too many");
                    let location = header(&response, "location");
                    let id = location.strip_prefix("/whep/").expect("the address of the session").to_owned();
                    assert_eq!(header(&response, "etag"), "\"ice-0\"");
                    assert!(!self.ever.contains(&id), "an address again");
                    let credentials = self.hub.lock().find(&id).expect("a viewer").remote.credentials.clone();
                    self.here.insert(id.clone(), Seen { joined: now, etag: 0, credentials });
                    self.ever.push(id);
                } else if is_good && path.is_empty() {
                    assert_eq!((response.status(), self.here.len()), (StatusCode::SERVICE_UNAVAILABLE, MOST));
                }
            }
            Ask::Patch { who, what, condition } => self.patch(*who, what, condition).await,
            Ask::Leave(who) => {
                let id = self.id(*who);
                let response = self.send("DELETE", &format!("/whep/{id}"), &[], String::new()).await;
                let expected = if self.here.remove(&id).is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
                assert_eq!(response.status(), expected);
            }
            Ask::Switch(who, scheme) => {
                let id = self.id(*who);
                let response = self.send("POST", &format!("/viewers/{id}/scheme"), &[], scheme.clone()).await;
                if response.status() == StatusCode::NO_CONTENT {
                    assert!(self.here.contains_key(&id));
                    let mut network = self.hub.lock();
                    let asked = scheme.trim().parse::<Scheme>().map(|scheme| scheme.name().to_owned());
                    let played = network.find(&id).expect("a viewer").outgoing.scheme().name().to_owned();
                    assert_eq!(asked.ok(), Some(played));
                }
            }
            Ask::ChangeLink(who, change) => {
                let id = self.id(*who);
                let response = self.send("POST", &format!("/viewers/{id}/link"), &[], change.clone()).await;
                assert!(response.status().is_client_error(), "there is no link: {}", response.status());
            }
            Ask::Get(path) => {
                // A stream of figures has no end.
                if !path.contains("events") {
                    self.send("GET", path, &[], String::new()).await;
                }
            }
            Ask::Pass(seconds) => {
                let span = Span::from_secs(i64::from(*seconds));
                let mut network = self.hub.lock();
                network.clock = network.clock.later(span);
                network.work();
                let now = network.clock.now();
                for seen in self.here.values() {
                    assert!(seen.joined <= now);
                }
                let is_here = |id: &String| network.viewers.values().any(|viewer| viewer.id == *id);
                self.here.retain(|id, seen| {
                    let age = now - seen.joined;
                    assert!(is_here(id) || age >= STAYS, "{id} went after {age}");
                    assert!(!is_here(id) || age <= STAYS + SLACK, "{id} is here after {age}");
                    is_here(id)
                });
            }
        }
    }

    async fn patch(&mut self, who: usize, what: &Patch, condition: &Tag) {
        let id = self.id(who);
        let seen = self.here.get(&id);
        let present = seen.map_or_else(|| credentials(0), |seen| seen.credentials.clone());
        self.restarts += 1;
        let fragment = |credentials: &Credentials, candidate: &str| {
            let fragment = Fragment {
                lite: false,
                bundle: vec!["0".into()],
                kind: "video".into(),
                mid: "0".into(),
                credentials: credentials.clone(),
                candidates: vec![candidate.into()],
                ended: false,
            };
            fragment.to_string()
        };
        let candidate = "candidate:1 1 udp 2130706431 192.0.2.7 5000 typ host";
        let text = match what {
            Patch::Candidate => fragment(&present, candidate),
            Patch::Restart => fragment(&credentials(self.restarts), candidate),
            Patch::BadRestart => fragment(&credentials(self.restarts), "candidate:1 1 udp x 192.0.2.7 5 typ host"),
            Patch::Text(text) => text.clone(),
        };
        let tag = format!("\"ice-{}\"", seen.map_or(0, |seen| seen.etag));
        let tag = match condition {
            Tag::Missing => None,
            Tag::Any => Some("*"),
            Tag::Present => Some(tag.as_str()),
            Tag::Stale => Some("\"ice-x\""),
        };
        let mut headers = vec![("content-type", fragment::MEDIA_TYPE)];
        headers.extend(tag.map(|tag| ("if-match", tag)));
        let before = self.names();
        let response = self.send("PATCH", &format!("/whep/{id}"), &headers, text).await;
        let status = response.status().as_u16();
        let is_ours = !matches!(what, Patch::Text(_));
        let expected = match (condition, what, self.here.contains_key(&id)) {
            (Tag::Missing, _, _) => Some(428),
            (_, _, false) if is_ours => Some(404),
            (Tag::Stale, _, true) if is_ours => Some(412),
            (_, Patch::Candidate, true) => Some(204),
            (_, Patch::Restart, true) => Some(200),
            (_, Patch::BadRestart, true) => Some(400),
            _ => None,
        };
        assert!(expected.is_none_or(|expected| expected == status), "{status}, must be {expected:?}");
        if status == 200 {
            let seen = self.here.get_mut(&id).expect("a viewer");
            seen.etag += 1;
            assert_eq!(header(&response, "etag"), format!("\"ice-{}\"", seen.etag));
            assert_ne!(self.names(), before, "a restart has a new name");
            let credentials = self.hub.lock().find(&id).expect("a viewer").remote.credentials.clone();
            self.here.get_mut(&id).expect("a viewer").credentials = credentials;
        } else {
            assert_eq!(self.names(), before, "what was refused has changed the session");
            assert!(response.headers().get("etag").is_none());
        }
    }

    /// The names by which checks find the viewers.
    fn names(&self) -> Vec<String> {
        self.hub.lock().peers.ufrags().into_iter().map(|(ufrag, _)| ufrag.to_owned()).collect()
    }

    /// The address of who joined then, or one that nobody has.
    fn id(&self, who: usize) -> String {
        let nobody = || "0".repeat(32);
        if self.ever.is_empty() {
            nobody()
        } else {
            self.ever.get(who % (self.ever.len() + 1)).cloned().unwrap_or_else(nobody)
        }
    }

    async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: String) -> Response {
        let request = Request::builder().method(method).uri(path).header("host", "127.0.0.1");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        // A path that is no address is refused before it would be sent.
        let Ok(request) = request.body(Body::from(body)) else { return Response::new(Body::empty()) };
        let response = match self.routes.call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        assert_ne!(response.status(), StatusCode::INTERNAL_SERVER_ERROR, "{method} {path}");
        response
    }

    /// The state is that of as many viewers as the model has.
    fn check(&self, after: &Ask) {
        let network = self.hub.lock();
        let mut ids: Vec<&String> = network.viewers.values().map(|viewer| &viewer.id).collect();
        ids.sort();
        assert!(ids.iter().copied().eq(self.here.keys()), "after {after:?}");
        assert!(ids.len() <= MOST);
        assert_eq!((network.peers.ufrags().len(), network.offered.len()), (ids.len(), 0), "after {after:?}");
    }
}

fn channel(name: &str) -> ChannelConfig {
    ChannelConfig {
        name: name.into(),
        scheme: Arc::new("gcc".parse::<Scheme>().expect("a scheme")),
        bind: ([127, 0, 0, 1], 0).into(),
        advertise: Vec::new(),
        link: None,
    }
}

fn credentials(number: u32) -> Credentials {
    Credentials { ufrag: format!("frag{number}"), password: format!("{number:022}") }
}

fn offer(credentials: &Credentials) -> String {
    let local = Local {
        credentials: credentials.clone(),
        fingerprint: Fingerprint::new([7; 32]),
        candidates: Vec::new(),
        lite: false,
        setup: DtlsRole::Client,
        streams: stream_ids(Seed::new(1)),
        cname: "fuzz".into(),
    };
    sdp::offer(&local, &Capabilities::all(Direction::ReceiveOnly)).text
}

fn header(response: &Response, name: &str) -> String {
    response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}
