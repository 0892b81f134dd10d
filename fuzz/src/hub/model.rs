//! A model of a few lines of a publisher's viewers as the clients of its web server see them: what must come of any
//! requests in any order, in virtual time.

use std::collections::BTreeMap;
use std::sync::Arc;

use thalweg_live::publish::fuzzing::{Answer, Seen, StillPublisher};
use thalweg_live::publish::{ChannelConfig, PublishConfig};
use thalweg_sender::{Scheme, SenderFactory};
use thalweg_transport::sdp::fragment::{self, Fragment};
use thalweg_transport::sdp::{self, Capabilities, Direction, Local, StreamIds};
use thalweg_transport::{Credentials, DtlsRole, Fingerprint};
use thalweg_units::{Span, Time};

/// As many viewers as there may be.
const MOST: usize = 3;
/// How long a viewer that does not connect stays ([`thalweg_transport::Config::connect`]), and how long
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

/// A viewer, as the model has it.
struct Viewer {
    joined: Time,
    etag: u64,
    credentials: Credentials,
}

/// A publisher without threads, and the model of its viewers.
struct World {
    publisher: StillPublisher,
    /// Those who are here, and all who ever were, in their order.
    here: BTreeMap<String, Viewer>,
    ever: Vec<String>,
    restarts: u32,
}

/// Asks all of it in order.
///
/// # Panics
/// When an answer is not what the model says, or the state is not as large as the number of viewers.
pub fn play(asked: &[Ask]) {
    let mut world = World::new();
    for ask in asked {
        world.ask(ask);
        world.check(ask);
    }
    // Whoever is here and never connects goes.
    world.ask(&Ask::Pass(36));
    assert!(world.publisher.viewers().is_empty(), "somebody stays for ever");
    world.check(&Ask::Pass(36));
}

impl World {
    fn new() -> World {
        let config = PublishConfig {
            title: "fuzz".into(),
            audio: None,
            codec: "model".parse().ok(),
            channels: ["main", "other"].map(channel).into(),
            max_viewers: MOST,
            ..PublishConfig::new(gcc())
        };
        let publisher = StillPublisher::new(&config).expect("a publisher");
        World { publisher, here: BTreeMap::new(), ever: Vec::new(), restarts: 0 }
    }

    fn ask(&mut self, ask: &Ask) {
        let now = self.publisher.now();
        match ask {
            Ask::Join { text, path } => {
                let ours = credentials(0);
                let is_good = text.is_none();
                let text = text.clone().unwrap_or_else(|| offer(&ours));
                let answer = self.send("POST", &format!("/whep{path}"), &[("content-type", "application/sdp")], text);
                if answer.status == 201 {
                    assert!(self.here.len() < MOST, "one too many");
                    let location = answer.location.expect("the address of the session");
                    let id = location.strip_prefix("/whep/").expect("the address of the session").to_owned();
                    assert_eq!(answer.etag.as_deref(), Some("\"ice-0\""));
                    assert!(!self.ever.contains(&id), "an address again");
                    let credentials = self.seen(&id).credentials;
                    self.here.insert(id.clone(), Viewer { joined: now, etag: 0, credentials });
                    self.ever.push(id);
                } else if is_good && path.is_empty() {
                    assert_eq!((answer.status, self.here.len()), (503, MOST));
                }
            }
            Ask::Patch { who, what, condition } => self.patch(*who, what, condition),
            Ask::Leave(who) => {
                let id = self.id(*who);
                let answer = self.send("DELETE", &format!("/whep/{id}"), &[], String::new());
                assert_eq!(answer.status, if self.here.remove(&id).is_some() { 200 } else { 404 });
            }
            Ask::Switch(who, scheme) => {
                let id = self.id(*who);
                let answer = self.send("POST", &format!("/viewers/{id}/scheme"), &[], scheme.clone());
                if answer.status == 204 {
                    assert!(self.here.contains_key(&id));
                    let asked = scheme.trim().parse::<Scheme>().map(|scheme| scheme.name().to_owned());
                    assert_eq!(asked.ok(), Some(self.seen(&id).scheme));
                }
            }
            Ask::ChangeLink(who, change) => {
                let id = self.id(*who);
                let answer = self.send("POST", &format!("/viewers/{id}/link"), &[], change.clone());
                assert!((400..500).contains(&answer.status), "no link was given: {}", answer.status);
            }
            Ask::Get(path) => {
                // A stream of figures has no end.
                if !path.contains("events") {
                    self.send("GET", path, &[], String::new());
                }
            }
            Ask::Pass(seconds) => {
                self.publisher.pass(Span::from_secs(i64::from(*seconds)));
                let now = self.publisher.now();
                for seen in self.here.values() {
                    assert!(seen.joined <= now);
                }
                let seen = self.publisher.viewers();
                let is_here = |id: &String| seen.iter().any(|seen| seen.id == *id);
                self.here.retain(|id, seen| {
                    let age = now - seen.joined;
                    assert!(is_here(id) || age >= STAYS, "{id} went after {age}");
                    assert!(!is_here(id) || age <= STAYS + SLACK, "{id} is here after {age}");
                    is_here(id)
                });
            }
        }
    }

    fn patch(&mut self, who: usize, what: &Patch, condition: &Tag) {
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
            // Four characters are the least (RFC 8839 section 5.4).
            Patch::BadRestart => fragment(&Credentials { ufrag: "bad".into(), ..present }, candidate),
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
        let before = self.publisher.ufrags();
        let answer = self.send("PATCH", &format!("/whep/{id}"), &headers, text);
        let status = answer.status;
        let is_ours = !matches!(what, Patch::Text(_));
        let expected = match (condition, what, self.here.contains_key(&id)) {
            (_, _, false) if is_ours => Some(404),
            (Tag::Missing, Patch::Candidate, true) => Some(204),
            (_, Patch::BadRestart, true) => Some(400),
            (Tag::Missing, Patch::Restart, true) => Some(428),
            (Tag::Stale, _, true) if is_ours => Some(412),
            (_, Patch::Candidate, true) => Some(204),
            (_, Patch::Restart, true) => Some(200),
            _ => None,
        };
        assert!(expected.is_none_or(|expected| expected == status), "{status}, must be {expected:?}");
        if status == 200 {
            let seen = self.here.get_mut(&id).expect("a viewer");
            seen.etag += 1;
            assert_eq!(answer.etag, Some(format!("\"ice-{}\"", seen.etag)));
            assert_ne!(self.publisher.ufrags(), before, "a restart has a new name");
            let credentials = self.seen(&id).credentials;
            self.here.get_mut(&id).expect("a viewer").credentials = credentials;
        } else {
            assert_eq!(self.publisher.ufrags(), before, "what was refused has changed the session");
            assert_eq!(answer.etag, None);
        }
    }

    /// A viewer who is here.
    fn seen(&self, id: &str) -> Seen {
        self.publisher.viewers().into_iter().find(|seen| seen.id == id).expect("a viewer")
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

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: String) -> Answer {
        let refused = || Answer { status: 200, location: None, etag: None };
        let answer = self.publisher.request(method, path, headers, body).unwrap_or_else(refused);
        assert_ne!(answer.status, 500, "{method} {path}");
        answer
    }

    /// The state is that of as many viewers as the model has.
    fn check(&self, after: &Ask) {
        let mut ids: Vec<String> = self.publisher.viewers().into_iter().map(|seen| seen.id).collect();
        ids.sort();
        assert!(ids.iter().eq(self.here.keys()), "after {after:?}");
        assert!(ids.len() <= MOST);
        assert_eq!((self.publisher.ufrags().len(), self.publisher.offered()), (ids.len(), 0), "after {after:?}");
    }
}

fn gcc() -> Scheme {
    "gcc".parse().expect("a scheme")
}

fn channel(name: &str) -> ChannelConfig {
    ChannelConfig {
        name: name.into(),
        scheme: Arc::new(gcc()),
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
        streams: StreamIds { video: 1, retransmission: 2, fec: 3, audio: 4 },
        cname: "fuzz".into(),
    };
    sdp::offer(&local, &Capabilities::all(Direction::ReceiveOnly)).text
}
