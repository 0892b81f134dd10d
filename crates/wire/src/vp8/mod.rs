//! VP8 in RTP (RFC 7741): payload descriptor, packetisation and reassembly of frames.

mod descriptor;
mod packets;

pub use descriptor::{Descriptor, PictureId};
pub use packets::{AssemblyError, Fragment, assemble, fragments, is_keyframe};
