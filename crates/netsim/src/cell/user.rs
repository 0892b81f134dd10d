//! A user's queue, the bytes on the air, and what waits for missing ones.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ops::Range;

use thalweg_units::{Bytes, Rate, Time};

use super::channel::{Channel, from_db};
use crate::queue::{Queue, Queued};
use crate::{Departure, Drop, DropReason, Packet};

/// A packet of which some bytes have been sent.
#[derive(Debug, Clone)]
struct Sending<P> {
    queued: Queued<P>,
    /// Where it ends in the stream of the user's bytes.
    end: u64,
}

/// Bytes that were sent and not received.
#[derive(Debug, Clone)]
struct Gap {
    bytes: Range<u64>,
    /// From when they are sent again by the link layer; `None` while they are on the air.
    ready: Option<u64>,
}

/// See the module. Times are in transmission time intervals.
#[derive(Debug, Clone)]
pub struct User<P> {
    pub channel: Channel,
    /// Margin of link adaptation, in dB and as a factor.
    margin_db: f64,
    pub margin: f64,
    /// Mean bits per interval that the scheduler gave, and the interval it is of.
    average: (f64, u64),
    queue: Queue<P>,
    sending: VecDeque<Sending<P>>,
    /// How far the stream has been taken from the queue, and sent.
    taken: u64,
    sent: u64,
    gaps: Vec<Gap>,
    /// New bytes are not sent before.
    pub granted: u64,
}

/// The scheduler's memory, in intervals, and the least mean, in bits (specs/rmcat.md 6).
const MEMORY: f64 = 1000.0;
const LEAST: f64 = 1.0;
/// Link adaptation, in dB: on failure and on success (0.5 to 1/18: a tenth fails), and its bounds.
const ON_FAILURE: f64 = -0.5;
const ON_SUCCESS: f64 = 0.5 / 9.0;
const MARGIN: (f64, f64) = (-10.0, 3.0);

impl<P: Packet> User<P> {
    pub fn new(channel: Channel, queue: Queue<P>) -> User<P> {
        let (sending, gaps) = (VecDeque::new(), Vec::new());
        let (margin_db, margin, average) = (0.0, 1.0, (LEAST, 0));
        User { channel, margin_db, margin, average, queue, sending, taken: 0, sent: 0, gaps, granted: 0 }
    }

    /// Link adaptation after a block that was sent for the first time.
    pub fn adapt(&mut self, arrived: bool) {
        let change = if arrived { ON_SUCCESS } else { ON_FAILURE };
        self.margin_db = (self.margin_db + change).clamp(MARGIN.0, MARGIN.1);
        self.margin = from_db(self.margin_db);
    }

    pub fn push(&mut self, now: Time, size: Bytes, packet: P, dropped: &mut VecDeque<Drop<P>>) {
        let queued = Queued { arrival: now, counted: size, packet };
        // The limit is in bytes, so no rate is asked for.
        self.queue.push(now, || Rate::ZERO, queued, |queued, why| dropped.push_back(drop_of(now, queued, why)));
    }

    /// Returns true if there are bytes that were never sent.
    pub fn has_new(&self) -> bool {
        self.sent < self.taken || !self.queue.is_empty()
    }

    /// The first interval from `next` on in which it has bytes to send, but for those on the air.
    pub fn wakes(&self, next: u64) -> Option<u64> {
        let new = self.has_new().then_some(self.granted);
        let again = self.gaps.iter().filter_map(|gap| gap.ready).min();
        new.into_iter().chain(again).min().map(|at| at.max(next))
    }

    /// The scheduler's mean at interval `now`.
    pub fn average(&mut self, now: u64) -> f64 {
        const KEPT: f64 = 1.0 - 1.0 / MEMORY;
        let (mean, then) = self.average;
        let kept = match now.saturating_sub(then) {
            0 => return mean,
            1 => KEPT,
            passed => libm::pow(KEPT, passed as f64),
        };
        self.average = ((mean * kept).max(LEAST), now);
        self.average.0
    }

    /// Counts bits given at interval `now`.
    pub fn give(&mut self, now: u64, bits: f64) {
        let mean = self.average(now);
        self.average = ((mean + (bits - mean) / MEMORY).max(LEAST), now + 1);
    }

    /// Takes up to `most` bytes for a block of interval `now`, at `at`: first those to be sent again.
    pub fn take(&mut self, now: u64, at: Time, most: u64, dropped: &mut VecDeque<Drop<P>>) -> Vec<Range<u64>> {
        let (mut left, mut block) = (most, Vec::new());
        for index in 0..self.gaps.len() {
            let gap = &mut self.gaps[index];
            if left == 0 || gap.ready.is_none_or(|ready| ready > now) {
                continue;
            }
            let part = gap.bytes.start..gap.bytes.end.min(gap.bytes.start + left);
            let rest = Gap { bytes: part.end..gap.bytes.end, ready: gap.ready };
            *gap = Gap { bytes: part.clone(), ready: None };
            left -= part.end - part.start;
            if !rest.bytes.is_empty() {
                self.gaps.push(rest);
            }
            block.push(part);
        }
        let begin = self.sent;
        while left > 0 && self.granted <= now {
            if self.sent == self.taken {
                let mut drop = |queued, why| dropped.push_back(drop_of(at, queued, why));
                let Some(queued) = self.queue.pop(at, || Rate::ZERO, &mut drop) else { break };
                self.taken += queued.counted.get();
                self.sending.push_back(Sending { queued, end: self.taken });
            }
            let part = left.min(self.taken - self.sent);
            self.sent += part;
            left -= part;
        }
        if self.sent > begin {
            block.push(begin..self.sent);
        }
        block
    }

    /// The block did not arrive and is sent again.
    pub fn failed(&mut self, block: &[Range<u64>]) {
        for bytes in block {
            if !self.gaps.iter().any(|gap| gap.bytes == *bytes) {
                self.gaps.push(Gap { bytes: bytes.clone(), ready: None });
            }
        }
    }

    /// The block was given up; the link layer sends its bytes again from `ready` on.
    pub fn given_up(&mut self, block: &[Range<u64>], ready: u64) {
        self.gaps.iter_mut().filter(|gap| block.contains(&gap.bytes)).for_each(|gap| gap.ready = Some(ready));
    }

    /// The block arrived at `at`: releases the packets in front of which nothing is missing.
    pub fn arrived(&mut self, block: &[Range<u64>], at: Time, departed: &mut VecDeque<Departure<P>>) {
        self.gaps.retain(|gap| !block.contains(&gap.bytes));
        let complete = self.gaps.iter().map(|gap| gap.bytes.start).min().unwrap_or(self.sent);
        while self.sending.front().is_some_and(|sending| sending.end <= complete)
            && let Some(Sending { queued, .. }) = self.sending.pop_front()
        {
            let Queued { arrival, counted: size, packet } = queued;
            departed.push_back(Departure { at, size, queued: at - arrival, packet });
        }
    }

    /// Drops everything at `at`: the user is gone.
    pub fn leave(&mut self, at: Time, dropped: &mut VecDeque<Drop<P>>) {
        let mut drop = |queued, why| dropped.push_back(drop_of(at, queued, why));
        self.sending.drain(..).for_each(|sending| drop(sending.queued, DropReason::LinkOff));
        while let Some(queued) = self.queue.pop(at, || Rate::ZERO, &mut drop) {
            drop(queued, DropReason::LinkOff);
        }
        self.gaps.clear();
        self.sent = self.taken;
    }
}

fn drop_of<P>(at: Time, queued: Queued<P>, why: DropReason) -> Drop<P> {
    Drop { at, size: queued.counted, why, packet: queued.packet }
}
