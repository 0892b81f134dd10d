//! Block codes: as many packets of a block come back as parity packets of it have come, whichever they are.
//!
//! For two ends of our own; no RFC has it. A parity packet's payload begins like one of [`flexfec`](crate::flexfec)
//! with what it is over, so that each can be made sense of alone, and goes on with one symbol of a Reed-Solomon code
//! over the packets:
//!
//! ```text
//!  0: 0xc0 (R and F of flexfec-03 set, which its readers refuse) | index | count | 1, the number of streams
//!  4: the protected stream (32)
//!  8: sequence number and mask of the protected packets as of flexfec-03: 4, 8 or 16 bytes
//!     the code over, of each protected packet:
//!     P, X, CC (8) | M, PT (8) | length - 12 (16) | timestamp (32) | all after byte 12,
//!     filled up with zeros to the longest and to a whole number of 16 bits
//! ```
//!
//! Parity packet `index` of `count` is one of that many; how many there are is part of the code, so all of a block are
//! made at once. Up to 109 packets go under up to 255 parity packets, all of one stream and one payload type.
//!
//! # What is not found out
//! A code that is used up by what is missing has nothing left to check with. What comes out must be a packet of the
//! stream: its bits that are always zero, its length, what it is filled up with, the payload type that the others have,
//! the RTP header. A parity packet, or a packet held, that differs from what its sender made in any other way makes
//! packets that differ, and where many are missing one wrong byte is in all of them. SRTP authenticates every packet
//! before it gets here, parity and media alike, so such a difference is the sender's own or that of extensions which
//! were not blanked ([`blank_extensions`](crate::rtp::blank_extensions)).
//!
//! ```
//! use thalweg_wire::block_code::{Block, Parity, Recovery, protect};
//! use thalweg_wire::rtp::{Header, Packet};
//!
//! let media: Vec<Vec<u8>> = (7..11)
//!     .map(|sequence| {
//!         let mut out = Vec::new();
//!         let header = Header { marker: false, payload_type: 96, sequence, timestamp: 90_000, ssrc: 1 };
//!         Packet::new(header, &[sequence as u8; 20]).write(&mut out).expect("in range");
//!         out
//!     })
//!     .collect();
//! let payloads = protect(media.iter().map(Vec::as_slice), 3)?;
//!
//! // Packets 8 and 9 are lost, and one of the three.
//! let mut block = Block::new(Parity::parse(&payloads[2])?);
//! assert!(block.add(Parity::parse(&payloads[0])?));
//! let held = |sequence| [7, 10].contains(&sequence).then(|| &media[usize::from(sequence) - 7][..]);
//! let recovered = block.recover(held)?;
//! assert_eq!(recovered, Recovery::Packets(media[1..3].to_vec()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod code;
mod payload;
mod recover;

pub use payload::{Parity, protect};
pub use recover::{Block, Recovery};

pub use crate::parity::{Corrupt, Mask};
