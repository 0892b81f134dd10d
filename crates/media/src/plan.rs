//! What a frame should be: the words between the engine and an encoder.

use alloc::vec::Vec;
use core::fmt;

use thalweg_units::{Bytes, Rate, Size, Span};

use crate::state::Transition;

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
    /// What the frame may refer to; of a keyframe, what happens to it.
    pub basis: Basis,
    /// Keep the state a receiver has after this frame under this number, that a later plan may name it ([`Basis::After`]),
    /// until the engine forgets it.
    pub keep: Option<u64>,
    /// How many candidates may be coded at a time, at least 1: on as many cores.
    pub cores: u8,
    /// The temporal layer it is in, where frames are made in several.
    pub layer: Layer,
}

impl EncodePlan {
    /// A frame after the last one sent, coded on one core, that the encoder may not drop.
    pub fn new(targets: Vec<Target>, size: Size, interval: Span) -> EncodePlan {
        EncodePlan {
            targets,
            keyframe: false,
            size,
            interval,
            may_drop: false,
            basis: Basis::Latest,
            keep: None,
            cores: 1,
            layer: Layer::default(),
        }
    }
}

/// One of several temporal layers: frames of a layer refer only to frames of layers below and, in layer 0, to those of the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layer {
    /// Which, from 0: the base.
    pub number: u8,
    /// Of how many, at least 1.
    pub count: u8,
}

impl Default for Layer {
    /// The only one.
    fn default() -> Layer {
        Layer { number: 0, count: 1 }
    }
}

/// What a frame may refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Basis {
    /// What the last frame sent left, in whatever way the codec likes.
    #[default]
    Latest,
    /// What frame `0` left, to which a receiver that keeps states goes back (Salsify section 3.2).
    After(u64),
    /// Named buffers of a standard decoder. A frame on this basis leaves nothing behind in the decoder but pictures: what it
    /// changes in the codec's probabilities holds for itself alone, so that a frame that was lost is missed only by those
    /// that refer to its picture.
    Buffers(Buffers),
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Basis::Latest => f.write_str("the last one sent"),
            Basis::After(frame) => write!(f, "what frame {frame} left"),
            Basis::Buffers(_) => f.write_str("chosen buffers, as temporal layers and long-term references do"),
        }
    }
}

/// Of a standard decoder's buffers, which a frame refers to, and in which it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffers {
    /// Whether it may refer to the last frame: the newest that became it.
    pub last: bool,
    /// The long-term buffer it may refer to, and the frame whose picture is in there.
    pub long_term: Option<(LongTerm, u64)>,
    /// The long-term buffer it is kept in.
    pub kept_in: Option<LongTerm>,
    /// Whether it becomes the last frame. One that does not and is kept nowhere else is missed by nobody: it may be dropped, by
    /// the sender after it was made and by a relay.
    pub becomes_last: bool,
    /// Whether what it refers to was sent. If not, it is made for the sake of its size, and cannot be sent either.
    pub sendable: bool,
}

/// A buffer whose picture stays until a frame says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LongTerm {
    /// VP8's golden frame.
    Golden,
    /// VP8's alternative reference.
    Altref,
}

impl LongTerm {
    /// The other one.
    pub const fn other(self) -> LongTerm {
        match self {
            LongTerm::Golden => LongTerm::Altref,
            LongTerm::Altref => LongTerm::Golden,
        }
    }
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
    /// About this many payload bytes, by a quantiser that is guessed from coding the picture at half its width and height and not
    /// mended afterwards: what an encoder can do that codes once (Salsify section 5.2, "conventional codec").
    Guess(Bytes),
}

/// What an encoder made, as far as the engine cares: the bytes themselves stay with the one who drives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodedFrame {
    /// Payload bytes of the frame.
    pub size: Bytes,
    /// Whether it refers to no other frame.
    pub keyframe: bool,
    /// Its temporal layer ([`Layer::number`]); 0 is the base, which refers to no other, and keyframes are of it.
    pub layer: u8,
    /// The quantiser it was made with, in the codec's own scale; `None` when the codec does not say.
    pub quantizer: Option<u8>,
    /// The size of the picture in it.
    pub picture: Size,
    /// The decoder's states before and after it; `None` from encoders that do not know them.
    pub transition: Option<Transition>,
}
