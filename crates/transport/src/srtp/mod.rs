//! Media as it is on the wire: SRTP and SRTCP (RFC 3711, RFC 7714), keyed by the handshake (RFC 5764).
//!
//! The ciphers and the packet formats are those of `rtc-srtp`. What it leaves to its caller is here, because version 0.21
//! (a) keeps state for a stream before a packet of it is authentic, (b) takes SRTCP that says it is not encrypted without
//! authenticating it under AES-CM, (c) looks for replays among 16-bit sequence numbers, where packets of half a turn ago
//! look new, (d) misjudges where a header ends whose one-byte extensions stop at the reserved id 15, and (e) begins again
//! after the last SRTCP index. So [`Inbound`] and [`Outbound`] count packet indices themselves, give it only packets whose
//! index it must guess as they did, and bound its memory.

mod header;
mod inbound;
mod keys;
mod outbound;
mod window;

pub use inbound::Inbound;
pub use keys::{Keys, Profile};
pub use outbound::Outbound;
