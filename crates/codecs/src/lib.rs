//! Encoders and decoders people already have.
//!
//! [`Encoder`] and [`Decoder`] are the seam; [`libvpx`] (Debian: libvpx-dev) is VP8 as WebRTC configures it; [`model`] makes
//! frame sizes without looking at pixels.

mod config;
pub mod libvpx;
pub mod model;
pub mod seam;

pub use config::{Codec, CodecPair, CodecTime};
pub use seam::{Candidate, DecodeError, Decoder, EncodeError, Encoder, Image, ModelledQuality};
