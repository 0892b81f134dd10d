//! The link of the simulator on real packets.
//!
//! An [`EmulatedLink`] drives a [`thalweg_link::Path`] in each direction by the real clock: the one who has packets, the
//! [`Relay`] from UDP sockets or the shell from a network of its own, offers them as they come and passes them on as
//! they leave. Same hops, same queues, same random choices as in the simulator; only the clock is real.

mod clients;
mod direction;
mod error;
mod link;
mod log;
mod relay;
mod statistics;

pub use error::EmulateError;
pub use link::{EmulatedLink, LinkConfig, Way, Zero};
pub use relay::{Relay, RelayConfig};
pub use statistics::{DirectionStatistics, Statistics};

#[cfg(test)]
mod tests;
