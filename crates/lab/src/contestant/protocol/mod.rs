//! An estimator in another process: requests and replies as lines of JSON (docs/tutorials/estimator.md).
//!
//! A request carries the virtual time, and each gets exactly one reply. [`Remote`] is the estimator here, whatever
//! carries the lines; [`serve`] is the other side for an estimator in Rust.

mod messages;
mod remote;
mod serve;

pub use messages::{PacketReport, Reply, Request, Welcome};
pub use remote::{Lines, Remote};
pub use serve::serve;

/// The name of the protocol in the first request and its reply.
pub const PROTOCOL: &str = "thalweg-estimator";
/// Its version: raised when a process that follows an earlier one would no longer be understood.
pub const VERSION: u32 = 1;
