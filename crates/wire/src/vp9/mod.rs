//! VP9 in RTP (RFC 9628): payload descriptor of both modes, packetisation and reassembly of frames.

mod descriptor;
mod packets;
mod structure;

pub use crate::vp8::PictureId;
pub use descriptor::{Descriptor, Layer, Mode};
pub use packets::{AssemblyError, Fragment, assemble, fragments, is_keyframe};
pub use structure::{GroupPicture, Structure};
