//! What a sender did, in formats that other tools read: [`Pcap`] for Wireshark, [`Qlog`] for qvis and scripts.
//!
//! Prometheus' figures are the publisher's ([`crate::publish`]), and logs go through `tracing`.

mod pcap;
mod qlog;

pub use pcap::{Pcap, PcapError};
pub use qlog::Qlog;
