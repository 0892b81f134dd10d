//! The simulator's link for real packets.
//!
//! An [`EmulatedLink`] drives a [`thalweg_netsim::Path`] in each direction by the real clock. Its owner, the [`Relay`]
//! with UDP sockets or the shell with a network namespace, offers packets when they arrive and forwards them when they
//! leave. Hops, queues and random choices are those of the simulator; only the clock is real.

mod clients;
mod direction;
mod error;
mod handle;
mod link;
mod log;
mod packets;
mod passing;
mod relay;
mod statistics;

pub use error::EmulateError;
pub use handle::{LinkHandle, LinkState};
pub use link::{EmulatedLink, LinkConfig, Way, Zero};
pub use packets::Packet;
pub(crate) use packets::Packets;
pub use passing::{HEAD, Passing, Place};
pub use relay::{Relay, RelayConfig};
pub use statistics::{DirectionStatistics, Statistics};

#[cfg(test)]
mod tests;
