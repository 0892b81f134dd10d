//! FlexFEC: parity packets in a stream of their own, each the sum (exclusive or) of a set of media packets.
//!
//! Two formats share everything but the place of the protected stream and the end of the mask: `flexfec-03`
//! (draft-ietf-payload-flexible-fec-scheme-03), which Chromium offers to receive, and RFC 8627, for which it has a reader
//! that nothing uses. Only what both have in common is read and written: one protected stream, an explicit mask (their R and F
//! bits 0).
//!
//! Parity is over plaintext RTP, whole packets less their first twelve bytes, of which it has the fields that differ.
//! Extensions that are written when a packet leaves must be blanked on both sides first
//! ([`blank_extensions`](crate::rtp::blank_extensions)): libwebrtc does, and draws wrong packets otherwise.
//!
//! ```
//! use thalweg_wire::flexfec::{Format, Parity, Recovery, protect};
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
//! let payload = protect(Format::Draft03, media.iter().map(Vec::as_slice))?;
//!
//! // In a packet of the parity stream it arrives where packet 8 did not.
//! let header = Header { marker: false, payload_type: 118, sequence: 1, timestamp: 90_000, ssrc: 2 };
//! let packet = Packet::new(header, &payload);
//! let parity = Parity::parse(Format::Draft03, &packet)?;
//! let recovered = parity.recover(|sequence| (sequence == 7).then_some(media[0].as_slice()))?;
//! assert_eq!(recovered, Recovery::Packet(media[1].clone()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod mask;
mod payload;

pub use payload::protect;
#[cfg(test)]
pub(crate) use payload::testing;

pub use crate::parity::{Corrupt, Mask, Parity, Recovery};

use thalweg_units::Bytes;

/// How a parity packet's payload begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// `flexfec-03`: the protected stream in the payload, three parts of a mask of 15, 31 and 63 bits.
    #[default]
    Draft03,
    /// RFC 8627: the protected stream among the packet's contributing sources, a mask of 15, 31 and 64 bits.
    Rfc8627,
}

impl Format {
    /// How many sequence numbers a mask spans at most: 109 or 110.
    pub const fn longest(self) -> u16 {
        match self {
            Format::Draft03 => 109,
            Format::Rfc8627 => 110,
        }
    }

    /// Bytes before the sum in a parity packet with this mask: 20, 24 or 32 of `flexfec-03`, 8 less of RFC 8627.
    pub fn header(self, mask: &Mask) -> Bytes {
        Bytes::new((self.before_mask() + mask.size()) as u64)
    }

    /// Bytes before the first mask's sequence number.
    const fn before_mask(self) -> usize {
        match self {
            Format::Draft03 => 16,
            Format::Rfc8627 => 8,
        }
    }
}
