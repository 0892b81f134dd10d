//! VP9 in RTP (RFC 9628): the payload descriptor of both modes, a frame cut into packets, packets put together again.

mod descriptor;
mod packets;
mod structure;

pub use crate::vp8::PictureId;
pub use descriptor::{Descriptor, Layer, Mode};
pub use packets::{AssemblyError, Fragment, assemble, fragments, is_keyframe};
pub use structure::{GroupPicture, Structure};
