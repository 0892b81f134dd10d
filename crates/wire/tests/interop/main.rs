//! Interoperability of the wire crate: how the crates of GStreamer and webrtc-rs handle the same values.

#[path = "../recorded/captures.rs"]
mod captures;
#[path = "../recorded/corpus.rs"]
mod corpus;
mod differential;
mod fec;
mod mutation;
mod payloads;
mod xr;
