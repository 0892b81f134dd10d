//! FlexFEC: FEC packets in their own stream, each the XOR of a set of media packets, in the version `flexfec-03`
//! (draft-ietf-payload-flexible-fec-scheme-03), which Chromium offers to receive.
//!
//! Supports one protected stream with an explicit mask (R and F bits 0). RFC 8627 differs in the position of the
//! protected SSRC and the end of the mask; no browser uses it.
//!
//! FEC covers plaintext RTP: whole packets without their first twelve bytes, of which it covers the fields that differ.
//! Extensions that are written when a packet is sent must first be blanked on both sides
//! ([`blank_extensions`](crate::rtp::blank_extensions)): libwebrtc does so, and recovers wrong packets otherwise.
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

/// Max number of sequence numbers that a mask spans.
pub const LONGEST: u16 = 109;
