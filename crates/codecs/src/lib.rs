//! Encoders and decoders people already have.
//!
//! [`Encoder`] and [`Decoder`] are the seam; `libvpx` (Debian: libvpx-dev) is VP8 as WebRTC configures it.

mod config;
pub mod libvpx;
pub mod seam;

pub use config::{Codec, CodecPair, CodecTime};
pub use seam::{Candidate, DecodeError, Decoder, EncodeError, Encoder};
