//! Waking a thread from another one.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};

/// Wakes the thread that waits in a [`Poller`](super::Poller): send it a message through a channel, then wake it.
#[derive(Debug, Clone)]
pub struct Waker {
    event: Arc<OwnedFd>,
}

impl Waker {
    pub(super) fn new() -> io::Result<Waker> {
        let event = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Waker { event: Arc::new(event) })
    }

    /// Ends the current wait, or else the next one. Two calls before the thread wakes up count as one.
    pub fn wake(&self) {
        // The write fails only when the counter is full, and then the thread is being woken already.
        let _ = rustix::io::write(&*self.event, &1u64.to_ne_bytes());
    }

    /// Resets the event.
    pub(super) fn reset(&self) {
        let _ = rustix::io::read(&*self.event, &mut [0; 8]);
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}
