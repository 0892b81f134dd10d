//! One end of a conversation, without clock and without sockets.
//!
//! [`Outgoing`] is the sender's: the engine's packets, which name bytes, become RTP with header extensions and leave protected through a
//! [`Connection`](thalweg_transport::Connection); what the peer says comes back as RTCP and becomes what the engine takes in. The program that
//! drives it owns clock, sockets, pictures and encoder. [`Incoming`] is the receiver's: whole frames and audio out of what comes, and everything
//! that a browser would answer.
#![forbid(unsafe_code)]

pub mod incoming;
pub mod outgoing;

pub use incoming::Incoming;
pub use outgoing::{AudioFrame, Encoded, Outgoing, Output, Setup};
