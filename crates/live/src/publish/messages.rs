//! Messages from other threads to the network thread.

use std::sync::mpsc::{Sender, SyncSender};

use thalweg_codecs::EncodeError;
use thalweg_session::{AudioFrame, Encoded};
use thalweg_video::source::SourceError;

use super::sources::camera::{Seen, Taken};
pub(super) use crate::outbox::reply;
pub(super) use crate::peers::{Key, State};
use crate::web::{About, Condition, Hub, Join, Joined, LinkChange, Patched, Refused, RefusedKind, Sessions, Snapshot};

/// The number of a shared encoder; none is used twice.
pub(super) type RungId = u64;

/// A message to the network thread.
pub(super) enum Message {
    /// A picture was taken.
    Picture(Taken),
    /// A picture, or an encoded frame, came from elsewhere.
    Given(Seen),
    /// Who sends encoded frames from elsewhere is asked for keyframes by this.
    Upstream(Box<dyn Fn() + Send>),
    /// There are no more pictures.
    CameraEnded(Result<(), SourceError>),
    /// An audio packet was made.
    Audio(AudioFrame),
    /// There is no more audio.
    AudioEnded(Result<(), SourceError>),
    /// An encoder's result for the requested picture; `encoder` distinguishes it from a replaced one.
    Encoded { viewer: Key, encoder: u64, made: Result<Vec<Encoded>, EncodeError> },
    /// The same of a shared encoder.
    Shared { rung: RungId, made: Result<Vec<Encoded>, EncodeError> },
    /// A viewer wants to join.
    Join(Join, SyncSender<Result<Joined, Refused>>),
    /// An SDP fragment of signalling arrived.
    Patch { id: String, fragment: String, condition: Condition, reply: SyncSender<Result<Patched, Refused>> },
    /// Make an offer to a server; the connection's state changes are reported to the first channel.
    Offer(Sender<State>, SyncSender<Result<(Key, String), Refused>>),
    /// The server's answer.
    Accept(Key, String, SyncSender<Result<(), Refused>>),
    /// Restart ICE; replies with the fragment for the server.
    Restart(Key, SyncSender<Option<String>>),
    /// The server's part of the restart; replies whether it can be used.
    Restarted(Key, String, SyncSender<bool>),
    /// Remove a connection that we offered.
    Drop(Key),
    /// A viewer leaves.
    Leave(String, SyncSender<bool>),
    /// A viewer requests another scheme.
    Switch { id: String, scheme: String, reply: SyncSender<Result<(), Refused>> },
    /// A viewer changes the emulated links.
    ChangeLink { id: String, change: LinkChange, reply: SyncSender<Result<(), Refused>> },
    /// Request for the statistics of a viewer.
    Snapshot(String, SyncSender<Option<Snapshot>>),
    /// Request for what is published.
    About(SyncSender<About>),
    /// Request for all metrics.
    Metrics(SyncSender<String>),
    /// Say goodbye to all viewers and end.
    Stop,
}

/// Sends messages to the network thread, from any thread.
pub(super) type Outbox = crate::outbox::Outbox<Message>;

/// Requests of a WHIP client.
impl Outbox {
    pub(super) fn offer(&self, states: Sender<State>) -> Option<Result<(Key, String), Refused>> {
        self.ask(|reply| Message::Offer(states, reply))
    }

    pub(super) fn accept(&self, key: Key, answer: String) -> Option<Result<(), Refused>> {
        self.ask(|reply| Message::Accept(key, answer, reply))
    }

    pub(super) fn restart(&self, key: Key) -> Option<Option<String>> {
        self.ask(|reply| Message::Restart(key, reply))
    }

    pub(super) fn restarted(&self, key: Key, fragment: String) -> Option<bool> {
        self.ask(|reply| Message::Restarted(key, fragment, reply))
    }

    pub(super) fn drop_viewer(&self, key: Key) {
        self.send(Message::Drop(key));
    }
}

fn nobody() -> Refused {
    Refused::new(RefusedKind::Unavailable, "the sender does not answer: it is busy or has stopped; try again")
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

impl Hub for Outbox {
    fn switch(&self, id: &str, scheme: &str) -> Result<(), Refused> {
        let (id, scheme) = (id.to_owned(), scheme.to_owned());
        self.ask(|reply| Message::Switch { id, scheme, reply }).unwrap_or_else(|| Err(nobody()))
    }

    fn change_link(&self, id: &str, change: &LinkChange) -> Result<(), Refused> {
        let (id, change) = (id.to_owned(), change.clone());
        self.ask(|reply| Message::ChangeLink { id, change, reply }).unwrap_or_else(|| Err(nobody()))
    }

    fn snapshot(&self, id: &str) -> Option<Snapshot> {
        self.ask(|reply| Message::Snapshot(id.to_owned(), reply)).flatten()
    }

    fn about(&self) -> About {
        self.ask(Message::About).unwrap_or_default()
    }
}
