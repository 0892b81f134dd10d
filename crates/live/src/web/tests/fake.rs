//! A hub without real viewers, and a client that writes and reads plain bytes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::super::*;
use thalweg_emulate::clock::Clock;

/// The token of the tests' servers.
pub(super) const TOKEN: &str = "0123456789abcdef";
/// The only possible viewer.
pub(super) const VIEWER: &str = "viewer-1";

/// Answers any offer that begins like SDP, for one viewer.
#[derive(Default)]
pub(super) struct FakeHub {
    pub(super) scheme: Mutex<Option<String>>,
    pub(super) joins: Mutex<Vec<Join>>,
    pub(super) link: Mutex<Option<LinkChange>>,
}

impl Sessions for FakeHub {
    fn join(&self, join: Join) -> Result<Joined, Refused> {
        if !join.offer.starts_with("v=0") {
            return Err(Refused::new(RefusedKind::BadOffer, "An offer that does not begin with \"v=0\"; send SDP."));
        }
        if join.channel.as_deref() == Some(VIEWER) {
            return Err(Refused::new(RefusedKind::IsSession, "The address is that of a session."));
        }
        if join.channel.as_ref().is_some_and(|channel| channel != "left") {
            return Err(Refused::new(RefusedKind::NoSuchChannel, "There is no such channel; there is \"left\"."));
        }
        let mut scheme = self.scheme.lock().unwrap();
        if scheme.is_some() {
            return Err(Refused::new(RefusedKind::Full, "There are 1 of at most 1 viewers; come back later."));
        }
        *scheme = Some(join.scheme.clone().unwrap_or("gcc".into()));
        self.joins.lock().unwrap().push(join);
        Ok(Joined { id: VIEWER.into(), answer: "v=0\r\nanswer".into(), etag: "first".into() })
    }

    fn patch(&self, id: &str, _: &str, condition: &Condition) -> Result<Patched, Refused> {
        match condition {
            _ if id != VIEWER => Err(Refused::new(RefusedKind::NoSuchViewer, "There is no such viewer.")),
            Condition::Any => Ok(Patched::Restarted { fragment: "a=ice-ufrag:new".into(), etag: "second".into() }),
            Condition::Tag(tag) if tag == "first" => Ok(Patched::Taken),
            Condition::None => Err(Refused::new(RefusedKind::Unconditional, "Send If-Match.")),
            Condition::Tag(_) => Err(Refused::new(RefusedKind::Stale, "ICE has been restarted since.")),
        }
    }

    fn leave(&self, id: &str) -> bool {
        id == VIEWER && self.scheme.lock().unwrap().take().is_some()
    }

    fn metrics(&self) -> String {
        "thalweg_viewers 0\n".into()
    }
}

impl Hub for FakeHub {
    fn switch(&self, id: &str, scheme: &str) -> Result<(), Refused> {
        let mut current = self.scheme.lock().unwrap();
        if id != VIEWER || current.is_none() {
            return Err(Refused::new(RefusedKind::NoSuchViewer, "There is no such viewer."));
        }
        if !["gcc", "vidaptive"].contains(&scheme) {
            let sentence = format!("The scheme {scheme:?}; there are gcc, vidaptive.");
            return Err(Refused::new(RefusedKind::UnknownScheme, sentence));
        }
        *current = Some(scheme.into());
        Ok(())
    }

    fn change_link(&self, id: &str, change: &LinkChange) -> Result<(), Refused> {
        if id != VIEWER || self.scheme.lock().unwrap().is_none() {
            return Err(Refused::new(RefusedKind::NoSuchViewer, "There is no such viewer."));
        }
        change.changes()?;
        *self.link.lock().unwrap() = Some(change.clone());
        Ok(())
    }

    fn snapshot(&self, id: &str) -> Option<Snapshot> {
        let scheme = self.scheme.lock().unwrap().clone()?;
        (id == VIEWER).then(|| Snapshot { scheme, rtt_ms: Some(12.5), ..Snapshot::default() })
    }

    fn about(&self) -> About {
        About { title: "A \"title\"".into(), frame_interval_ms: 1000.0 / 30.0, ..About::default() }
    }
}

/// A server on loopback, with or without a token.
pub(super) fn server(token: Option<&str>, limits: Limits) -> (Server, Arc<FakeHub>) {
    let hub = Arc::new(FakeHub::default());
    let config = WebConfig {
        listen: ([127, 0, 0, 1], 0).into(),
        token: token.map(|token| token.parse().unwrap()),
        metrics_token: None,
        tls: None,
        clock: Clock::new(),
        limits,
    };
    (Server::start(config, hub.clone()).unwrap(), hub)
}

/// A connection with a timeout of ten seconds.
pub(super) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream
}

/// Sends one request on its own connection; returns everything received.
pub(super) fn ask(address: SocketAddr, line: &str, headers: &[&str], body: &str) -> String {
    let mut stream = connect(address);
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let length = body.len();
    let request = format!(
        "{line} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8(answer).unwrap()
}

/// The status of an answer.
pub(super) fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
}

/// A header of an answer.
pub(super) fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let head = answer.split("\r\n\r\n").next()?;
    head.lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(n, _)| n.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}
