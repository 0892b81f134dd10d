//! Protection of media on the wire: SRTP and SRTCP (RFC 3711, RFC 7714), keyed by the handshake (RFC 5764).
//!
//! [`Inbound`] and [`Outbound`] know the streams: which packet index is next, which is new, and how many streams there
//! may be. A stream is remembered from its first authentic packet on, so what is forged costs one authentication and no
//! memory. The private module `session` has the ciphers and packet formats, over `aws-lc-rs`, and knows no streams.

mod header;
mod inbound;
mod keys;
mod outbound;
mod session;
mod window;

pub use inbound::Inbound;
pub use keys::{Keys, Profile};
pub use outbound::Outbound;
