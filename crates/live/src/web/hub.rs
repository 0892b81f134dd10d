//! What the web server asks of the thread that owns the viewers.

use super::snapshot::{About, Snapshot};

/// The viewers, as the web server sees them. Every call may take some milliseconds (a message to another thread and back); the
/// server makes them where waiting is allowed.
pub trait Hub: Send + Sync {
    /// A new viewer.
    ///
    /// # Errors
    /// When the offer cannot be answered, there is no room, or what was asked for does not exist.
    fn join(&self, join: Join) -> Result<Joined, Refused>;

    /// More candidates of a viewer, or the restart of its ICE (RFC 9725 section 4.3): `fragment` is an SDP fragment of RFC 8840.
    ///
    /// # Errors
    /// When there is no such viewer, the fragment makes no sense, or the condition does not hold ([`RefusedKind::Stale`]).
    fn patch(&self, id: &str, fragment: &str, condition: &Condition) -> Result<Patched, Refused>;

    /// A viewer goes. Whether there was one.
    fn leave(&self, id: &str) -> bool;

    /// Another scheme for a viewer, from now on.
    ///
    /// # Errors
    /// When there is no such viewer or no such scheme.
    fn switch(&self, id: &str, scheme: &str) -> Result<(), Refused>;

    /// The figures of a viewer at this moment.
    fn snapshot(&self, id: &str) -> Option<Snapshot>;

    /// What is published.
    fn about(&self) -> About;

    /// Everything in Prometheus' text format, version 0.0.4.
    fn metrics(&self) -> String;
}

/// Somebody wants to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Join {
    /// The SDP of their offer, at most as large as [`Limits::body`](super::Limits::body).
    pub offer: String,
    /// The scheme to send with; `None` is the channel's own.
    pub scheme: Option<String>,
    /// Which of several channels; `None` is the first.
    pub channel: Option<String>,
}

/// They do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    /// The viewer's name from now on, of `A-Z a-z 0-9 - _`. Who knows it may change and end the viewer without the token, so it
    /// carries at least 128 random bits.
    pub id: String,
    /// The SDP of the answer.
    pub answer: String,
    /// The tag of this ICE session, without quotes; another after each restart.
    pub etag: String,
}

/// Of which ICE session a fragment is (the header If-Match).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// `*`: a restart.
    Any,
    /// The session of this tag, without quotes.
    Tag(String),
}

/// What came of a fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Patched {
    /// Its candidates are known now.
    Taken,
    /// ICE begins anew.
    Restarted {
        /// Our half: ufrag, password and candidates, as an SDP fragment.
        fragment: String,
        /// The tag of the new session, without quotes.
        etag: String,
    },
}

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// What sort of reason.
    pub kind: RefusedKind,
    /// For a person: the value, what would be allowed, and what to do.
    pub message: String,
}

impl Refused {
    /// A refusal of this kind.
    pub fn new(kind: RefusedKind, message: impl Into<String>) -> Refused {
        Refused { kind, message: message.into() }
    }
}

/// The sorts of reasons, and the status of HTTP each becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedKind {
    /// The SDP cannot be read or has nothing in common with what is sent: 400.
    BadOffer,
    /// As many viewers as are allowed: 503, try again.
    Full,
    /// Nobody of that name: 404.
    NoSuchViewer,
    /// No channel of that name: 404.
    NoSuchChannel,
    /// No scheme of that name: 400.
    UnknownScheme,
    /// The fragment is of an ICE session that has been restarted since: 412.
    Stale,
    /// Not now: 503.
    Unavailable,
}
