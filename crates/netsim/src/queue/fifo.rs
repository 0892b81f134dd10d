//! Packets in the order of their arrival.

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, Span, Time};

use super::Queued;

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Fifo<P> {
    packets: VecDeque<Queued<P>>,
    bytes: Bytes,
}

impl<P> Fifo<P> {
    pub(super) const fn new() -> Fifo<P> {
        Fifo { packets: VecDeque::new(), bytes: Bytes::ZERO }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub(super) fn len(&self) -> u64 {
        self.packets.len() as u64
    }

    pub(super) const fn bytes(&self) -> Bytes {
        self.bytes
    }

    pub(super) fn push(&mut self, queued: Queued<P>) {
        self.bytes += queued.counted;
        self.packets.push_back(queued);
    }

    pub(super) fn pop(&mut self) -> Option<Queued<P>> {
        let queued = self.packets.pop_front()?;
        self.bytes -= queued.counted;
        Some(queued)
    }

    /// How long its head has waited at `now`; `None` if it is empty.
    pub(super) fn sojourn(&self, now: Time) -> Option<Span> {
        self.packets.front().map(|head| now - head.arrival)
    }
}
