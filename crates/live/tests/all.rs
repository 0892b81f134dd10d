//! Calls by the clock: each in one process, over loopback and over emulated links.

#[path = "../../transport/tests/world/ends.rs"]
mod ends;
mod http;
mod load;
mod receive;
#[cfg(feature = "libvpx")]
mod relay;
mod watch;
