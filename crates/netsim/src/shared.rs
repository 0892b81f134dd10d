//! Links shared by stations in both directions: Wi-Fi and cells.

use thalweg_units::{Bytes, Time};

use crate::{Departure, Drop};

/// A link shared by stations, with packets of each station in each direction.
///
/// It is driven as a [`Link`](crate::Link) is: every call carries the time, times never go back, and before a packet is
/// offered, everything due before it has been polled.
pub trait SharedLink<P> {
    /// A packet of `size` (from the IP header upwards) arrives for `port`. Packets for a station that the link does not
    /// have are dropped.
    fn offer(&mut self, now: Time, port: Port, size: Bytes, packet: P);

    /// The next packet that left at or before `now`; `None` if there is no more.
    fn poll(&mut self, now: Time) -> Option<Departure<P>>;

    /// The next time at which something happens on the link; [`Time::NEVER`] while it is idle.
    fn next_event(&self) -> Time;

    /// How many stations it has.
    fn stations(&self) -> usize;

    /// The next packet that was dropped, in order.
    fn poll_drop(&mut self) -> Option<Drop<P>>;
}

/// Where a packet enters a shared link: one queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Port {
    /// The station, by its place in the configuration.
    pub station: u16,
    /// The way the packet goes.
    pub direction: Direction,
}

impl Port {
    /// From the access point or base station to this station.
    pub const fn down(station: u16) -> Port {
        Port { station, direction: Direction::Down }
    }

    /// From this station to the access point or base station.
    pub const fn up(station: u16) -> Port {
        Port { station, direction: Direction::Up }
    }
}

/// A direction on a shared link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum Direction {
    /// From the access point or base station.
    Down,
    /// From the station.
    Up,
}
