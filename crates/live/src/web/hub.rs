//! The interface between the web server and the thread that owns the viewers, or the senders.

use std::net::IpAddr;
use std::sync::Arc;

use super::refused::Refused;
use super::snapshot::{About, LinkChange, Snapshot};

/// The sessions of WHEP or WHIP, as the web server sees them. Every call may block for some milliseconds (a message to
/// another thread and back); the server calls it where blocking is allowed.
pub trait Sessions: Send + Sync {
    /// Adds a viewer, or a sender.
    ///
    /// # Errors
    /// When the offer cannot be answered, the maximum number of sessions is reached, or the requested channel or scheme
    /// does not exist.
    fn join(&self, join: Join) -> Result<Joined, Refused>;

    /// More candidates of a session, or its ICE restart (RFC 9725 section 4.3): `fragment` is an SDP fragment of RFC
    /// 8840.
    ///
    /// # Errors
    /// When there is no such session, the fragment is malformed, or the condition does not hold
    /// ([`RefusedKind::Stale`](super::RefusedKind::Stale),
    /// [`RefusedKind::Unconditional`](super::RefusedKind::Unconditional)).
    fn patch(&self, id: &str, fragment: &str, condition: &Condition) -> Result<Patched, Refused>;

    /// Ends a session. Returns whether it existed.
    fn leave(&self, id: &str) -> bool;

    /// All metrics in Prometheus' text format, version 0.0.4.
    fn metrics(&self) -> String;
}

/// The viewers of a publisher.
pub trait Hub: Sessions {
    /// Switches a viewer to another scheme.
    ///
    /// # Errors
    /// When there is no such viewer or no such scheme.
    fn switch(&self, id: &str, scheme: &str) -> Result<(), Refused>;

    /// Changes the emulated links of all channels, for all viewers.
    ///
    /// # Errors
    /// When there is no such viewer, no link is emulated, or a value is out of range.
    fn change_link(&self, id: &str, change: &LinkChange) -> Result<(), Refused>;

    /// The present statistics of a viewer.
    fn snapshot(&self, id: &str) -> Option<Snapshot>;

    /// Description of the published media.
    fn about(&self) -> About;
}

/// The senders of a receiver.
pub trait Receivers: Sessions {
    /// The present figures of a sender, as a JSON object.
    fn sender(&self, id: &str) -> Option<String>;

    /// Description of the received media, as a JSON object.
    fn about(&self) -> String;
}

/// Both sides of a relay.
#[derive(Clone)]
pub struct Relayed {
    /// Its viewers.
    pub hub: Arc<dyn Hub>,
    /// Its sender.
    pub receivers: Arc<dyn Receivers>,
}

/// A request to watch, or to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Join {
    /// The SDP offer, at most as large as [`Limits::body`](super::Limits::body).
    pub offer: String,
    /// The scheme to send with; `None` for the channel's own.
    pub scheme: Option<String>,
    /// The channel; `None` for the first.
    pub channel: Option<String>,
    /// The sender's own name, for its figures; `None` if it does not give one.
    pub name: Option<String>,
    /// Where the request came from, for limits: an IPv4 address or an IPv6 network; `None` from this program itself.
    pub from: Option<IpAddr>,
}

/// A viewer or a sender that has joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    /// The session's id, of `A-Z a-z 0-9 - _`. It gives the right to change and end it without the token, so it
    /// contains at least 128 random bits.
    pub id: String,
    /// The SDP answer.
    pub answer: String,
    /// The ETag of this ICE session, without quotes; it changes with each restart.
    pub etag: String,
}

/// The ICE session that a fragment is for (header If-Match).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// None: the session whose ufrag and password the fragment repeats.
    None,
    /// `*`: a restart.
    Any,
    /// The session with this tag, without quotes.
    Tag(String),
}

/// The outcome of a fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Patched {
    /// Its candidates were added.
    Taken,
    /// ICE was restarted.
    Restarted {
        /// Our new ufrag, password and candidates, as an SDP fragment.
        fragment: String,
        /// The ETag of the new session, without quotes.
        etag: String,
    },
}
