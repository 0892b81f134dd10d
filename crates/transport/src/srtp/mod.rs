//! Protection of media on the wire: SRTP and SRTCP (RFC 3711, RFC 7714), keyed by the handshake (RFC 5764).
//!
//! The ciphers and packet formats are those of `rtc-srtp`. This module adds what it leaves to its caller, because
//! version 0.21 (a) keeps state for a stream before a packet of it is authentic, (b) accepts SRTCP that is marked
//! unencrypted without authenticating it under AES-CM, (c) detects replays among 16-bit sequence numbers, where packets
//! from half a cycle ago look new, (d) misjudges the end of a header whose one-byte extensions stop at the reserved id
//! 15, and (e) wraps around after the last SRTCP index. So [`Inbound`] and [`Outbound`] count packet indices
//! themselves, pass it only packets for which it must guess the same index, and bound its memory.

mod header;
mod inbound;
mod keys;
mod outbound;
mod window;

pub use inbound::Inbound;
pub use keys::{Keys, Profile};
pub use outbound::Outbound;
