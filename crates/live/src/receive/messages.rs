//! Messages from other threads to the network thread.

use std::sync::mpsc::SyncSender;

use super::observed::SenderReport;
pub(super) use crate::outbox::reply;
use crate::web::{Condition, Join, Joined, Patched, Receivers, Refused, RefusedKind, Sessions};

/// A message to the network thread.
pub(super) enum Message {
    /// Somebody wants to send.
    Join(Join, SyncSender<Result<Joined, Refused>>),
    /// An SDP fragment of signalling arrived.
    Patch { id: String, fragment: String, condition: Condition, reply: SyncSender<Result<Patched, Refused>> },
    /// A sender leaves.
    Leave(String, SyncSender<bool>),
    /// Somebody to whom frames are passed on needs a keyframe.
    Keyframe,
    /// Request for the figures of one sender.
    Sender(String, SyncSender<Option<SenderReport>>),
    /// Request for those of all.
    Senders(SyncSender<Vec<SenderReport>>),
    /// Request for what is received here.
    About(SyncSender<String>),
    /// Request for all metrics.
    Metrics(SyncSender<String>),
    /// End all sessions, and end.
    Stop,
}

/// Sends messages to the network thread, from any thread.
pub(super) type Outbox = crate::outbox::Outbox<Message>;

impl Outbox {
    /// The figures of all senders.
    pub(super) fn senders(&self) -> Vec<SenderReport> {
        self.ask(Message::Senders).unwrap_or_default()
    }
}

fn nobody() -> Refused {
    Refused::new(RefusedKind::Unavailable, "the receiver does not answer: it is busy or has stopped; try again")
}

impl Sessions for Outbox {
    fn join(&self, join: Join) -> Result<Joined, Refused> {
        self.ask(|reply| Message::Join(join, reply)).unwrap_or_else(|| Err(nobody()))
    }

    fn patch(&self, id: &str, fragment: &str, condition: &Condition) -> Result<Patched, Refused> {
        let (id, fragment, condition) = (id.to_owned(), fragment.to_owned(), condition.clone());
        self.ask(|reply| Message::Patch { id, fragment, condition, reply }).unwrap_or_else(|| Err(nobody()))
    }

    fn leave(&self, id: &str) -> bool {
        self.ask(|reply| Message::Leave(id.to_owned(), reply)).unwrap_or(false)
    }

    fn metrics(&self) -> String {
        self.ask(Message::Metrics).unwrap_or_default()
    }
}

impl Receivers for Outbox {
    fn sender(&self, id: &str) -> Option<String> {
        let report = self.ask(|reply| Message::Sender(id.to_owned(), reply)).flatten()?;
        serde_json::to_string(&report).ok()
    }

    fn about(&self) -> String {
        self.ask(Message::About).unwrap_or_else(|| "{}".into())
    }
}
