//! AV1 in RTP (AOM, RTP Payload Format For AV1 v1.0): packetisation and reassembly of temporal units, the pictures of
//! one time, in the low-overhead format of AV1 section 5.2, in which each OBU has its size before it.
//!
//! ```
//! use thalweg_units::Bytes;
//! use thalweg_wire::av1::{assemble, fragments, is_keyframe};
//!
//! // A temporal delimiter, a sequence header, and a frame of 3000 bytes that begins with a keyframe's header.
//! let unit = [&[0x12, 0, 0x0a, 1, 0][..], &[0x32, 0xb8, 0x17], &[0x10], &[7; 2999]].concat();
//! let payloads = fragments(&unit, Bytes::new(1200))?;
//! assert_eq!(payloads.len(), 3);
//! assert_eq!(assemble(payloads.iter().map(Vec::as_slice))?, unit);
//! assert!(is_keyframe(&unit));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod leb128;
mod obu;
mod packets;
mod payload;

pub use obu::is_keyframe;
pub use packets::{AssemblyError, assemble, fragments};
pub use payload::Payload;
