//! Waking a thread from another.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};

/// Wakes the thread that waits in a [`Poller`](super::Poller): send what it should do through a channel, then wake it.
#[derive(Debug, Clone)]
pub struct Waker {
    event: Arc<OwnedFd>,
}

impl Waker {
    pub(super) fn new() -> io::Result<Waker> {
        let event = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Waker { event: Arc::new(event) })
    }

    /// Ends the wait that is under way, or else the next one. Waking twice before it looks is waking once.
    pub fn wake(&self) {
        // The only refusal is a counter that is full, and then it is awake already.
        let _ = rustix::io::write(&*self.event, &1u64.to_ne_bytes());
    }

    /// Forgets that it was woken.
    pub(super) fn reset(&self) {
        let _ = rustix::io::read(&*self.event, &mut [0; 8]);
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}
