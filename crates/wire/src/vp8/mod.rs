//! VP8 in RTP (RFC 7741): the payload descriptor, a frame cut into packets, packets put together again.

mod descriptor;
mod packets;

pub use descriptor::{Descriptor, PictureId};
pub use packets::{AssemblyError, Fragment, assemble, fragments, is_keyframe};
