//! One side of a WebRTC conversation, without clock and sockets.
//!
//! [`Outgoing`] is the sender. The engine's packets, which only refer to bytes, become RTP with header extensions and
//! leave protected through a [`Connection`](thalweg_transport::Connection); the peer's RTCP is converted into the
//! engine's inputs. The program around it owns clock, sockets, pictures and encoder. [`Incoming`] is the receiver: it
//! returns complete frames and audio, and answers the sender as a browser does.
#![forbid(unsafe_code)]

pub mod incoming;
pub mod outgoing;
mod peer;
#[cfg(test)]
mod testing;

pub use incoming::Incoming;
pub use outgoing::{AudioFrame, Encoded, Outgoing, Output, Setup};
