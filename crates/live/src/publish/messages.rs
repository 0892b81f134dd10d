//! What other threads tell the network thread.

use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::time::Duration;

use thalweg_codecs::EncodeError;
use thalweg_session::{AudioFrame, Encoded};
use thalweg_video::source::SourceError;

use super::camera::Taken;
use crate::reactor::Waker;
use crate::web::{About, Condition, Hub, Join, Joined, Patched, Refused, RefusedKind, Snapshot};

/// A viewer by the order of joining.
pub(super) type Key = u64;

/// What a viewer's connection is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Connecting,
    Connected,
    Disconnected,
    Closed,
}

impl State {
    pub(super) const fn name(self) -> &'static str {
        match self {
            State::Connecting => "connecting",
            State::Connected => "connected",
            State::Disconnected => "disconnected",
            State::Closed => "closed",
        }
    }
}

/// What other threads tell the network thread.
pub(super) enum Message {
    /// A picture was taken.
    Picture(Taken),
    /// There are no more pictures.
    CameraEnded(Result<(), SourceError>),
    /// An audio packet was made.
    Audio(AudioFrame),
    /// There is no more audio.
    AudioEnded(Result<(), SourceError>),
    /// An encoder made this of the picture it was asked for; `encoder` tells it from one that was replaced.
    Encoded { viewer: Key, encoder: u64, made: Result<Vec<Encoded>, EncodeError> },
    /// Somebody wants to watch.
    Join(Join, SyncSender<Result<Joined, Refused>>),
    /// A fragment of signalling came.
    Patch { id: String, fragment: String, condition: Condition, reply: SyncSender<Result<Patched, Refused>> },
    /// Make an offer to a server; the state of the connection is reported to the first.
    Offer(Sender<State>, SyncSender<Result<(Key, String), Refused>>),
    /// The server's answer.
    Accept(Key, String, SyncSender<Result<(), Refused>>),
    /// Restart ICE: the fragment for the server.
    Restart(Key, SyncSender<Option<String>>),
    /// The server's half of the restart; whether it can be used.
    Restarted(Key, String, SyncSender<bool>),
    /// A connection of ours goes.
    Drop(Key),
    /// A viewer goes.
    Leave(String, SyncSender<bool>),
    /// A viewer wants another scheme.
    Switch { id: String, scheme: String, reply: SyncSender<Result<(), Refused>> },
    /// Somebody looks at a viewer.
    Snapshot(String, SyncSender<Option<Snapshot>>),
    /// Somebody wants to know what is published.
    About(SyncSender<About>),
    /// Somebody wants all figures.
    Metrics(SyncSender<String>),
    /// Say goodbye to everybody and end.
    Stop,
}

/// Where messages go, from any thread.
#[derive(Clone)]
pub(super) struct Outbox {
    messages: Sender<Message>,
    waker: Waker,
}

impl Outbox {
    pub(super) fn new(waker: Waker) -> (Outbox, Receiver<Message>) {
        let (messages, inbox) = channel();
        (Outbox { messages, waker }, inbox)
    }

    /// Says something to the listeners that are left.
    pub(super) fn send(&self, message: Message) {
        let _ = self.messages.send(message);
        self.waker.wake();
    }

    /// Asks something and waits for the answer, for as long as a person would.
    fn ask<T>(&self, question: impl FnOnce(SyncSender<T>) -> Message) -> Option<T> {
        const TIMEOUT: Duration = Duration::from_secs(3);
        let (reply, answer) = sync_channel(1);
        self.send(question(reply));
        answer.recv_timeout(TIMEOUT).ok()
    }
}

/// What a WHIP client asks.
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

/// Answers a question; who asked may have gone.
pub(super) fn reply<T>(to: &SyncSender<T>, answer: T) {
    match to.try_send(answer) {
        Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
    }
}

fn nobody() -> Refused {
    Refused::new(RefusedKind::Unavailable, "the sender does not answer: it is busy or has stopped; try again")
}

impl Hub for Outbox {
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

    fn switch(&self, id: &str, scheme: &str) -> Result<(), Refused> {
        let (id, scheme) = (id.to_owned(), scheme.to_owned());
        self.ask(|reply| Message::Switch { id, scheme, reply }).unwrap_or_else(|| Err(nobody()))
    }

    fn snapshot(&self, id: &str) -> Option<Snapshot> {
        self.ask(|reply| Message::Snapshot(id.to_owned(), reply)).flatten()
    }

    fn about(&self) -> About {
        self.ask(Message::About).unwrap_or_default()
    }

    fn metrics(&self) -> String {
        self.ask(Message::Metrics).unwrap_or_default()
    }
}
