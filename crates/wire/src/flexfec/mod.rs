//! FlexFEC: FEC packets in a stream of their own, each the XOR of a set of media packets, as `flexfec-03` has it
//! (draft-ietf-payload-flexible-fec-scheme-03), which Chromium offers to receive.
//!
//! Read and written is one protected stream with an explicit mask (R and F bits 0). RFC 8627 differs in the place of the protected stream
//! and the end of the mask; no browser uses it.
//!
//! FEC is over plaintext RTP, whole packets less their first twelve bytes, of which it has the fields that differ.
//! Extensions that are written when a packet leaves must be blanked on both sides first
//! ([`blank_extensions`](crate::rtp::blank_extensions)): libwebrtc does, and draws wrong packets otherwise.
//!
//! ```
//! use thalweg_wire::flexfec::{self, Recovery};
//! use thalweg_wire::rtp::{Header, Packet};
//!
//! let media: Vec<Vec<u8>> = [(7, &b"one"[..]), (8, b"three")]
//!     .map(|(sequence, payload)| {
//!         let mut out = Vec::new();
//!         let header = Header { marker: false, payload_type: 96, sequence, timestamp: 90_000, ssrc: 1 };
//!         Packet::new(header, payload).write(&mut out).expect("in range");
//!         out
//!     })
//!     .to_vec();
//! let payload = flexfec::protect(media.iter().map(Vec::as_slice))?;
//!
//! // It arrives in a packet of the FEC stream, and packet 8 does not.
//! let fec = flexfec::parse(&payload)?;
//! let recovered = fec.recover(|sequence| (sequence == 7).then_some(media[0].as_slice()))?;
//! assert_eq!(recovered, Recovery::Packet(media[1].clone()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod mask;
mod payload;

pub use payload::{parse, protect};

pub use crate::fec::{Corrupt, Fec, Mask, Recovery};

/// How many sequence numbers a mask spans at most.
pub const LONGEST: u16 = 109;
