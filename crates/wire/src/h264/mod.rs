//! H.264 in RTP (RFC 6184, `packetization-mode=1`): NAL units of the byte stream (Annex B), packetisation and
//! reassembly of access units, and the parameter sets that a decoder needs to start, with the size, format and rate in
//! them.
//!
//! ```
//! use thalweg_units::Bytes;
//! use thalweg_wire::h264::{assemble, fragments, is_keyframe};
//!
//! let frame = [&[0, 0, 0, 1, 0x67, 0x42][..], &[0, 0, 0, 1, 0x68, 0xce], &[0, 0, 0, 1, 0x65], &[7; 3000]].concat();
//! let mut payloads = Vec::new();
//! for fragment in fragments(&frame, Bytes::new(1200))? {
//!     let mut payload = Vec::new();
//!     fragment.payload.write(&mut payload)?;
//!     payloads.push(payload);
//! }
//! assert_eq!(payloads.len(), 4, "the parameter sets together, and three parts of the slice");
//! assert_eq!(assemble(payloads.iter().map(Vec::as_slice))?, frame);
//! assert!(is_keyframe(&frame));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod golomb;
mod packets;
mod parameters;
mod payload;
mod sequence;
mod units;

pub use golomb::exponential_golomb;
pub use packets::{AssemblyError, Fragment, assemble, fragments};
pub use parameters::ParameterSets;
pub use payload::Payload;
pub use sequence::{Sequence, picture_size, sequence};
pub use units::{UnitKind, is_keyframe, slice_type, start_code, units};
