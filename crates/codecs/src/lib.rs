//! Encoders and decoders people already have.

pub mod seam;

pub use seam::{Candidate, DecodeError, Decoder, EncodeError, Encoder};
