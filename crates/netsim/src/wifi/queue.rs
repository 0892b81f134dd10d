//! The queue of one station in one direction, from which frames are made and in which received packets wait for
//! earlier ones.

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, Span, Time};

use crate::{Departure, Drop, DropReason};

/// A packet that has not been released.
#[derive(Debug, Clone)]
struct Entry<P> {
    arrival: Time,
    size: Bytes,
    packet: P,
    /// How often it was sent.
    attempts: u8,
    /// True if it was received, behind one that was not.
    received: bool,
}

/// See the module.
#[derive(Debug, Clone)]
pub struct Queue<P> {
    entries: VecDeque<Entry<P>>,
    /// Packets not yet received.
    waiting: usize,
    /// The airtime or the packets sent from it, relative to other queues of the access point.
    pub served: u64,
}

/// Packets beyond this many from the oldest unreceived one cannot be acknowledged with it.
const BLOCK: usize = 64;

impl<P> Queue<P> {
    pub const fn new() -> Queue<P> {
        Queue { entries: VecDeque::new(), waiting: 0, served: 0 }
    }

    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    pub fn push(&mut self, arrival: Time, size: Bytes, packet: P) {
        self.entries.push_back(Entry { arrival, size, packet, attempts: 0, received: false });
        self.waiting += 1;
    }

    /// Sizes of the packets that the next frame may carry, oldest first.
    pub fn sizes(&self) -> impl Iterator<Item = Bytes> {
        self.entries.iter().take(BLOCK).filter(|entry| !entry.received).map(|entry| entry.size)
    }

    /// Drops packets that arrived before `oldest`.
    pub fn expire(&mut self, now: Time, oldest: Time, dropped: &mut VecDeque<Drop<P>>) {
        let is_old = |entry: &Entry<P>| !entry.received && entry.arrival < oldest;
        // Packets are in order of arrival.
        while let Some(index) =
            self.entries.iter().position(|entry| !entry.received).filter(|index| is_old(&self.entries[*index]))
        {
            self.remove(index, now, DropReason::QueueFull, dropped);
        }
    }

    fn remove(&mut self, index: usize, at: Time, why: DropReason, dropped: &mut VecDeque<Drop<P>>) {
        if let Some(Entry { size, packet, .. }) = self.entries.remove(index) {
            dropped.push_back(Drop { at, size, why, packet });
            self.waiting -= 1;
        }
    }

    /// The first `count` packets that were not received are sent; `is_lost` says of each whether it was lost. One that
    /// was lost `limit` times is dropped. Returns how many were lost and how many of these were dropped.
    pub fn send(
        &mut self,
        now: Time,
        count: usize,
        limit: u8,
        mut is_lost: impl FnMut() -> bool,
        dropped: &mut VecDeque<Drop<P>>,
    ) -> (usize, usize) {
        let (mut index, mut sent, mut lost, mut gone) = (0, 0, 0, 0);
        while sent < count && index < self.entries.len() {
            let entry = &mut self.entries[index];
            if entry.received {
                index += 1;
                continue;
            }
            sent += 1;
            entry.attempts = entry.attempts.saturating_add(1);
            if !is_lost() {
                entry.received = true;
                self.waiting -= 1;
                index += 1;
                continue;
            }
            lost += 1;
            if entry.attempts >= limit {
                gone += 1;
                self.remove(index, now, DropReason::Lost, dropped);
            } else {
                index += 1;
            }
        }
        (lost, gone)
    }

    /// Releases, at `at`, the received packets in front of which none is missing.
    pub fn release(&mut self, at: Time, departed: &mut VecDeque<Departure<P>>) {
        while self.entries.front().is_some_and(|entry| entry.received)
            && let Some(Entry { arrival, size, packet, .. }) = self.entries.pop_front()
        {
            departed.push_back(Departure { at, size, queued: at - arrival, packet });
        }
    }
}

/// The time before which packets are too old.
pub fn oldest(now: Time, age: Option<Span>) -> Time {
    age.map_or(Time::ZERO, |age| Time::from_nanos(now.as_nanos().saturating_sub(age.as_nanos().unsigned_abs())))
}
