//! Messages and questions to a network thread, from any thread.

use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::time::Duration;

use thalweg_emulate::reactor::Waker;

/// Sends messages to a network thread, and wakes it.
pub(crate) struct Outbox<M> {
    messages: Sender<M>,
    waker: Waker,
}

impl<M> Clone for Outbox<M> {
    fn clone(&self) -> Outbox<M> {
        Outbox { messages: self.messages.clone(), waker: self.waker.clone() }
    }
}

impl<M> Outbox<M> {
    pub(crate) fn new(waker: Waker) -> (Outbox<M>, Receiver<M>) {
        let (messages, inbox) = channel();
        (Outbox { messages, waker }, inbox)
    }

    /// Sends a message, if the network thread still runs.
    pub(crate) fn send(&self, message: M) {
        let _ = self.messages.send(message);
        self.waker.wake();
    }

    /// Sends a question and waits for the answer, with a timeout.
    pub(crate) fn ask<T>(&self, question: impl FnOnce(SyncSender<T>) -> M) -> Option<T> {
        const TIMEOUT: Duration = Duration::from_secs(3);
        let (reply, answer) = sync_channel(1);
        self.send(question(reply));
        answer.recv_timeout(TIMEOUT).ok()
    }
}

/// Answers a question; the requester may no longer wait.
pub(crate) fn reply<T>(to: &SyncSender<T>, answer: T) {
    match to.try_send(answer) {
        Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
    }
}
