//! Who else uses a path: sources of cross traffic, with no bytes in their packets.
//!
//! [`Datagrams`] leave at a rate, whatever happens to them. A [`TcpFlow`] is both ends of TCP connections that slow down when they
//! lose: one that never ends ([`TcpConfig`]) or one for each page that a user reads ([`WebConfig`]). The owner of the clock carries
//! what one end gives to the other.

mod datagrams;
mod flow;
pub mod tcp;
mod times;
mod web;

pub use datagrams::{Arrivals, Datagrams, DatagramsConfig};
pub use flow::{TcpConfig, TcpFlow};
pub use web::{Page, WebConfig};
