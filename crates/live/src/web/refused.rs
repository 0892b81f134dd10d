//! Why a hub refuses what a page asked for.

/// A refused request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// The kind of refusal.
    pub kind: RefusedKind,
    /// A message for users: the value, what is allowed, and what to do.
    pub message: String,
}

impl Refused {
    /// A refusal of this kind.
    pub fn new(kind: RefusedKind, message: impl Into<String>) -> Refused {
        Refused { kind, message: message.into() }
    }
}

/// The kinds of refusal, each with its HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedKind {
    /// The SDP is malformed or has nothing in common with what is sent: 400.
    BadOffer,
    /// The maximum number of viewers is reached: 503, try again.
    Full,
    /// No viewer with this id: 404.
    NoSuchViewer,
    /// No channel with this name: 404.
    NoSuchChannel,
    /// No scheme with this name: 400.
    UnknownScheme,
    /// The emulated link cannot be changed like this, or there is none: 400.
    BadChange,
    /// The fragment is for an ICE session that has been restarted since: 412.
    Stale,
    /// The fragment does not say which ICE session it is for: 428.
    Unconditional,
    /// The address is that of a session, which nobody joins: 405.
    IsSession,
    /// Temporarily not possible: 503.
    Unavailable,
}
