//! State of each path as the peer has shown it: the peer is there, consents to receive, and nominated the path.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// For how long nothing may be heard on the path in use before a newer nomination is followed: libwebrtc calls a path
/// weak then (`p2p_constants.cc`, `WEAK_CONNECTION_RECEIVE_TIMEOUT`).
const SILENCE: Duration = Duration::from_millis(2500);

/// A path: the local and the remote address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Route {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
}

/// Meaning of an authenticated STUN message on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Said {
    /// Consent to receive on this path (RFC 7675 section 5.1): it answered our check (or, if we are lite and make none, it
    /// checked us).
    pub(crate) consents: bool,
    /// It asked for media on this path (USE-CANDIDATE, RFC 8445 section 7.3.1.5).
    pub(crate) nominates: bool,
}

/// The times at which the peer last did something on a path.
#[derive(Debug, Clone, Copy)]
struct Path {
    heard: Instant,
    consented: Option<Instant>,
    nominated: Option<Instant>,
}

/// The paths on which the peer was heard. The caller bounds their number.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    heard: BTreeMap<Route, Path>,
    /// Those whose consent has expired: with these credentials no media goes there again (RFC 7675 section 5.1).
    lost: BTreeSet<Route>,
}

impl Paths {
    /// An authenticated STUN message was heard.
    pub(crate) fn on_stun(&mut self, route: Route, now: Instant, said: Said) {
        // What the peer asks there is answered, for that is our consent; its own comes too late.
        if self.is_lost(route) {
            return;
        }
        let path = self.heard.entry(route).or_insert(Path { heard: now, consented: None, nominated: None });
        path.heard = now;
        if said.consents {
            path.consented = Some(now);
        }
        if said.nominates {
            path.nominated = Some(now);
        }
    }

    /// Authenticated media or RTCP was heard. `consents` if that is consent enough where there was some: if we are lite, for
    /// peers that have no consent checks of their own (libnice by default) say nothing else.
    pub(crate) fn on_media(&mut self, route: Route, now: Instant, consents: bool) {
        if let Some(path) = self.heard.get_mut(&route) {
            path.heard = now;
            path.consented = path.consented.map(|before| if consents { now } else { before });
        }
    }

    /// When the peer last consented to receive on this path.
    pub(crate) fn consented(&self, route: Route) -> Option<Instant> {
        self.heard.get(&route)?.consented
    }

    /// The path that the peer asked for since it was last heard on `route`, with its consent, and when to follow it
    /// there. It has moved: the agent itself keeps to the nominated pair of the highest priority as long as that may
    /// still answer, which is half a minute.
    pub(crate) fn newer_than(&self, route: Route) -> Option<(Route, Instant)> {
        let heard = self.heard.get(&route)?.heard;
        let asked = self.heard.iter().filter(|(other, path)| **other != route && path.consented.is_some());
        let asked = asked.filter_map(|(other, path)| Some((path.nominated.filter(|at| *at >= heard)?, *other)));
        asked.max().map(|(_, newest)| (newest, heard + SILENCE))
    }

    /// The consent for this path has expired.
    pub(crate) fn lose(&mut self, route: Route) {
        self.heard.remove(&route);
        self.lost.insert(route);
    }

    /// Returns true if the consent for this path has expired since the session began.
    pub(crate) fn is_lost(&self, route: Route) -> bool {
        self.lost.contains(&route)
    }

    /// The path to take when the consent for the one in use has expired: one with consent since `after`, the one asked for
    /// last. `nominated` if only paths that the peer asked for will do, because it chooses.
    pub(crate) fn instead_of(&self, after: Instant, nominated: bool) -> Option<Route> {
        let valid = self.heard.iter().filter(|(_, path)| {
            path.consented.is_some_and(|at| at > after) && (path.nominated.is_some() || !nominated)
        });
        valid.max_by_key(|(_, path)| (path.nominated, path.consented)).map(|(route, _)| *route)
    }

    /// Forgets every path but this one, and who asked for it: the session begins again.
    pub(crate) fn restart(&mut self, kept: Option<Route>) {
        self.heard.retain(|route, _| Some(*route) == kept);
        self.heard.values_mut().for_each(|path| path.nominated = None);
        self.lost.clear();
    }
}
