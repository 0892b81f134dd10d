//! The dependency descriptor (AV1 RTP payload format v1.0, appendix A): the references of a frame, in a header
//! extension that relays can parse without knowing the codec. libwebrtc and Chromium negotiate it for every video
//! codec.
//!
//! A stream sends its [`Template`]s once, in a [`Structure`] with a keyframe; after that a packet needs three bytes for
//! a frame that matches its template.

mod descriptor;
mod structure;

pub use descriptor::{DependencyDescriptor, FrameNumber};
pub use structure::{Indication, Structure, Template};
