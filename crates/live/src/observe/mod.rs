//! A sender's activity in formats that other tools read: [`Pcap`] for Wireshark, [`Qlog`] for qvis and scripts.
//!
//! Prometheus metrics are made by the publisher ([`crate::publish`]); logs go through `tracing`.

mod pcap;
mod qlog;

pub use pcap::{Pcap, PcapError};
pub use qlog::Qlog;
