//! The dependency descriptor (AV1 RTP payload format v1.0, appendix A): which frames a frame refers to, in a header extension that
//! relays read without knowing the codec. libwebrtc and Chromium negotiate it for every video codec.
//!
//! A stream says once which [`Template`]s its frames are of, in a [`Structure`] that goes with a keyframe; after that a packet takes
//! three bytes for a frame that is as its template has it.

mod descriptor;
mod structure;

pub use descriptor::{DependencyDescriptor, FrameNumber};
pub use structure::{Indication, Structure, Template};
