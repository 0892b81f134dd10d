//! An emulated network path: traces, queues, loss, delay.
//!
//! A [`Link`] is one hop of a path. The owner of the clock drives it: a simulator in virtual time, or an emulator in
//! real time. [`Bottleneck`] lets packets out at a trace's delivery opportunities, exactly as Mahimahi does
//! (specs/linkemu.md); [`Serial`] sends them bit by bit at a rate; [`Delay`] holds each for a fixed or random time;
//! [`Loss`] drops some; [`Duplicate`] passes some twice; [`Policer`] drops what exceeds a rate; [`Middlebox`] clears ECN
//! fields or drops packets for them; a [`Path`] is a chain of hops built from a [`PathConfig`]. [`traffic`] has cross traffic: [`Datagrams`], which do not react to congestion, and TCP, which does.
//! A [`SharedLink`] carries packets of many stations in both directions: [`Wifi`] and [`Cell`].
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod bottleneck;
mod capacity;
pub mod cell;
mod delay;
mod duplicate;
mod loss;
mod middlebox;
mod packet;
mod path;
mod policer;
pub mod queue;
mod serial;
mod shared;
mod steps;
pub mod synthesize;
pub mod trace;
pub mod traffic;
pub mod wifi;

use thalweg_units::{Bytes, Rate, Span, Time};

pub use bottleneck::{Bottleneck, PACKET_INFORMATION};
pub use capacity::{Capacity, PathCapacity};
pub use cell::{Cell, CellConfig};
pub use delay::{Delay, Delays, Jitter};
pub use duplicate::Duplicate;
pub use loss::{Loss, LossModel};
pub use middlebox::{EcnFault, Middlebox};
pub use packet::{MarkReason, Packet, flow_of};
pub use path::{FindTrace, HopConfig, Path, PathConfig, PathError};
pub use policer::Policer;
pub use queue::{DropReason, QueueConfig};
pub use serial::{Rates, Serial};
pub use shared::{Direction, Port, SharedLink};
pub use thalweg_units::{ConfigError, Ecn};
pub use trace::{Schedule, Trace, TraceError};
pub use traffic::{Arrivals, Datagrams, DatagramsConfig, TcpConfig, TcpFlow, WebConfig};
pub use wifi::{Wifi, WifiConfig};

/// A packet that has left a hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departure<P> {
    /// When it left.
    pub at: Time,
    /// Its size, from the IP header upwards.
    pub size: Bytes,
    /// How long it waited in this hop's queue; zero for hops without one.
    pub queued: Span,
    /// The packet.
    pub packet: P,
}

/// A packet that a hop dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drop<P> {
    /// When it was dropped.
    pub at: Time,
    /// Its size, from the IP header upwards.
    pub size: Bytes,
    /// Why.
    pub why: DropReason,
    /// The packet.
    pub packet: P,
}

/// One hop of a path.
///
/// Every call carries the time, and times never go back. Before a packet is offered, the caller must have polled
/// everything due before it.
pub trait Link<P> {
    /// A packet of `size` (from the IP header upwards) arrives.
    fn offer(&mut self, now: Time, size: Bytes, packet: P);

    /// The next packet that left at or before `now`; `None` if there is no more.
    fn poll(&mut self, now: Time) -> Option<Departure<P>>;

    /// The next time at which [`Link::poll`] may return a packet; [`Time::NEVER`] while the hop is empty.
    fn next_event(&self) -> Time;

    /// The next packet that was dropped, in order.
    fn poll_drop(&mut self) -> Option<Drop<P>>;

    /// A property changes at `now`, while packets may be on the hop; everything due before has been polled. A hop
    /// without the property goes on as it is; returns whether it has it.
    fn change(&mut self, _now: Time, _change: &Change) -> bool {
        false
    }
}

/// A change of a link while it is used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// Bottlenecks have this constant rate from now on, or again what they were built with. A rate of zero changes
    /// nothing: nothing would ever leave.
    Rate(Option<Rate>),
    /// The fixed delay of packets that arrive from now on.
    Delay(Span),
    /// The probability of independent loss, 0 to 1.
    Loss(f64),
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
