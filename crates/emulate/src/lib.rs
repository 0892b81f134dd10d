//! A network emulator for any program, without kernel modules: the simulator's links carry real packets by the real clock.
//!
//! An [`EmulatedLink`] drives a [`thalweg_netsim::Path`] in each direction by the real [`clock`]. Its owner offers packets
//! when they arrive and forwards them when they leave: a [`Relay`] with UDP sockets, or a [`shell`] with a network
//! namespace, in which a command runs. Hops, queues and random choices are those of the simulator; only the clock is real.
//! The event loop under both, with timers of nanoseconds and batched UDP, is the [`reactor`].
//!
//! Linux only: timers are timerfds, [`shell`] needs network namespaces and TUN devices.
#![forbid(unsafe_code)]

#[cfg(not(target_os = "linux"))]
compile_error!(
    "thalweg-emulate needs Linux (timerfd, network namespaces, TUN devices); everything below it builds without: \
     the command line leaves it out by itself"
);

mod clients;
pub mod clock;
mod direction;
mod error;
mod handle;
mod link;
mod log;
mod packets;
mod passing;
pub mod reactor;
mod relay;
pub mod shell;
mod statistics;
pub mod thread;

pub use error::EmulateError;
pub use handle::{LinkHandle, LinkState};
pub use link::{EmulatedLink, LinkConfig, Way, Zero};
pub use packets::{Packet, Packets};
pub use passing::{HEAD, Passing, Place};
pub use relay::{Relay, RelayConfig};
pub use statistics::{DirectionStatistics, Statistics};

#[cfg(test)]
#[path = "../../../tests/in_real_time.rs"]
mod in_real_time;
#[cfg(test)]
mod tests;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
