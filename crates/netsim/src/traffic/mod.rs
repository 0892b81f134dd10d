//! Cross traffic: other users of a path, as packets without contents.
//!
//! [`Datagrams`] leave at a given rate, without congestion control. A [`TcpFlow`] is both ends of TCP connections,
//! which slow down when they lose packets: one endless connection or file ([`TcpConfig`]), or one for each page that a
//! user reads ([`WebConfig`]). The owner of the clock carries the packets from one end to the other.

mod datagrams;
mod flow;
pub mod tcp;
mod times;
mod web;

pub use datagrams::{Arrivals, Datagrams, DatagramsConfig};
pub use flow::{TcpConfig, TcpFlow};
pub use web::{Page, WebConfig};
