//! A sender's activity in formats that other tools read: [`Pcap`] for Wireshark, [`Qlog`] for qvis and scripts.
//!
//! Prometheus metrics are those of the publisher ([`crate::publish`]) and the receiver ([`crate::receive`]); logs go
//! through `tracing`.

mod pcap;
pub(crate) mod prometheus;
mod qlog;

pub use pcap::{Pcap, PcapError};
pub use qlog::Qlog;
