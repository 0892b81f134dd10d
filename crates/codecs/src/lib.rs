//! Video encoders and decoders behind one interface.
//!
//! [`Encoder`] and [`Decoder`] are the interface; [`libvpx`] (Debian: libvpx-dev) and [`openh264`] are VP8, VP9 and
//! H.264 as WebRTC configures them; [`dav1d`] decodes AV1 where it is installed; [`functional`] is the workspace's own VP8, which can make several candidates of a
//! picture and discard any of them; [`model`] produces frame sizes without reading pixels, and
//! [`traffic`] those of RMCAT's traffic models.

mod config;
pub mod dav1d;
pub mod functional;
mod layers;
pub mod libvpx;
pub mod model;
mod names;
pub mod openh264;
pub mod seam;
#[cfg(any(feature = "libvpx", feature = "openh264"))]
mod single;
mod stand_ins;
pub mod traffic;
pub mod vp8;
mod webp;

pub use config::{Codec, CodecPair, CodecTime};
pub use names::ParseCodecError;
pub use seam::{Candidate, DecodeError, Decoder, EncodeError, Encoder, Image, ModelledQuality, States};
pub use webp::webp;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
