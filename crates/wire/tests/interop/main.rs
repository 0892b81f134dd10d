//! The wire crate against other implementations: what the crates of GStreamer and webrtc-rs make of the same values.

#[path = "../recorded/captures.rs"]
mod captures;
#[path = "../recorded/corpus.rs"]
mod corpus;
mod differential;
mod fec;
mod mutation;
mod payloads;
mod xr;
