//! What a frame should be: the words between the engine and an encoder.

use alloc::vec::Vec;
use thalweg_units::{Bytes, Rate, Size, Span};

/// What an encoder is asked to make of one picture.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodePlan {
    /// One target for each candidate wanted. A conventional encoder is asked for one, a functional codec for as many as the
    /// policy wants to choose from.
    pub targets: Vec<Target>,
    /// Whether the frame must not refer to any other.
    pub keyframe: bool,
    /// The size to encode at; the picture is scaled to it first.
    pub size: Size,
    /// The time between pictures that the encoder should count with: what a rate target is spread over.
    pub interval: Span,
    /// Whether the encoder's own rate control may drop the picture instead. A policy that decides itself which pictures to
    /// send (Vidaptive's pause) wants every one it asks for.
    pub may_drop: bool,
}

/// How large, or how good, a frame should be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target {
    /// The rate the encoder's own rate control should keep.
    Rate(Rate),
    /// At most this many payload bytes.
    Size(Bytes),
    /// This quantiser, in the codec's own scale (VP8: y_ac_qi 0..=127).
    Quantizer(u8),
}

/// What an encoder made, as far as the engine cares: the bytes themselves stay with whoever drives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodedFrame {
    /// Payload bytes of the frame.
    pub size: Bytes,
    /// Whether it refers to no other frame.
    pub keyframe: bool,
    /// The quantiser it was made with, in the codec's own scale; `None` when the codec does not say.
    pub quantizer: Option<u8>,
    /// The size of the picture in it.
    pub picture: Size,
}
