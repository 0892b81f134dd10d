//! The wire crate against what others wrote: packets, captures and fuzz corpora in `../shared/data/rtp-interop`
//! (its README says whose they are), and what the crates of GStreamer and webrtc-rs make of the same
//! values.

mod captures;
mod control;
mod corpus;
mod differential;
mod mutation;
mod packets;
mod parity;
mod payloads;
mod video;
mod xr;
