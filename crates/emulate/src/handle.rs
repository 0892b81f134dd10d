//! An emulated link as others see and change it while it is used.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use thalweg_netsim::{Capacity, Change, PathCapacity};
use thalweg_units::{Bytes, Rate, Span, Time};

use super::Statistics;
use crate::reactor::Waker;

/// The capacity of a trace is its mean over this time, as in the laboratory's charts.
const WINDOW: Span = Span::from_millis(500);

/// The way up of a link: its capacity, and what can be changed.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkState {
    /// When the paths' time began; `None` until the first packet.
    pub(super) zero: Option<Time>,
    pub(super) path: PathCapacity,
    /// The rate it was given since, in place of its bottlenecks' own.
    pub rate: Option<Rate>,
    /// The fixed delay.
    pub delay: Span,
    /// The probability of random loss.
    pub loss: f64,
}

impl LinkState {
    /// When the paths' time began; `None` until the first packet.
    pub fn zero(&self) -> Option<Time> {
        self.zero
    }

    /// Returns true if anything limits its rate, so that it can be changed.
    pub fn has_rate(&self) -> bool {
        self.path.has_bottleneck()
    }

    /// Bytes that it could carry between two instants; `None` without a limit, or before the first packet.
    pub fn carried(&self, from: Time, until: Time) -> Option<Bytes> {
        let zero = self.zero?;
        let since = |at: Time| (Time::ZERO + (at - zero)).max(Time::ZERO);
        self.path.bytes(since(from), since(until))
    }

    /// Rate that it can carry about `now`; `None` without a limit, or before the first packet.
    pub fn capacity(&self, now: Time) -> Option<Rate> {
        let from = (Time::ZERO + (now - self.zero?)).max(Time::ZERO);
        let given = |capacity: &Capacity| match (capacity, self.rate) {
            (capacity, Some(rate)) if capacity.is_bottleneck() => rate,
            (Capacity::Rates(rates), _) => rates.at(from).0,
            (Capacity::Policer { rate, .. }, _) => *rate,
            (Capacity::Trace { .. }, _) => {
                let begin = Time::ZERO + (from.since_start() - WINDOW).max(Span::ZERO);
                capacity.bytes(begin, begin + WINDOW).per(WINDOW)
            }
        };
        self.path.hops().iter().map(given).min()
    }
}

/// Requests to a relay's thread.
#[derive(Debug)]
pub(super) enum Request {
    Statistics(Sender<Statistics>),
    Change(Change),
    Stop,
}

/// The handle of a relay's link, for any thread.
#[derive(Debug, Clone)]
pub struct LinkHandle {
    pub(super) state: Arc<Mutex<LinkState>>,
    pub(super) requests: Sender<Request>,
    pub(super) waker: Waker,
}

impl LinkHandle {
    /// The link at present.
    pub fn state(&self) -> LinkState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the link, as soon as its thread comes to it.
    pub fn change(&self, change: Change) {
        // A relay that has failed says so elsewhere.
        let _ = self.requests.send(Request::Change(change));
        self.waker.wake();
    }
}
