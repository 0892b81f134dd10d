//! Plan of a frame: the types between the engine and an encoder.

use alloc::vec::Vec;
use core::fmt;

use thalweg_units::{Bytes, Rate, Size, Span};

use crate::state::Transition;

/// Request to an encoder for one picture. Make one with [`EncodePlan::new`] and set what differs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EncodePlan {
    /// One target for each candidate. A conventional encoder gets one, a functional codec as many as the policy wants
    /// to choose from.
    pub targets: Vec<Target>,
    /// Requires a keyframe, which refers to no other frame.
    pub keyframe: bool,
    /// The size to encode at, in pixels; the picture is scaled to it first.
    pub size: Size,
    /// The time between pictures that the encoder should assume: a rate target is spread over it.
    pub interval: Span,
    /// Lets the encoder's own rate control drop the picture instead. A policy that decides itself which pictures to
    /// send (Vidaptive's pause) needs every picture that it asks for.
    pub may_drop: bool,
    /// The frame's references; for a keyframe, the buffers that keep it.
    pub basis: Basis,
    /// Keep the receiver's state after this frame under this number, so that a later plan may name it
    /// ([`Basis::After`]), until the engine forgets it.
    pub keep: Option<u64>,
    /// How many candidates may be encoded in parallel, at least 1: one core for each.
    pub cores: u8,
    /// The frame's temporal layer, if there are several.
    pub layer: Layer,
}

impl EncodePlan {
    /// A frame that refers to the last one sent, encoded on one core, that the encoder may not drop.
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

    /// The same with what `change` sets.
    pub fn with(mut self, change: impl FnOnce(&mut EncodePlan)) -> EncodePlan {
        change(&mut self);
        self
    }
}

/// One of several temporal layers: a frame refers only to frames of lower layers and, in layer 0, of the same layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layer {
    /// The layer's number; 0 is the base.
    pub number: u8,
    /// The number of layers, at least 1.
    pub count: u8,
}

impl Default for Layer {
    /// The only layer.
    fn default() -> Layer {
        Layer { number: 0, count: 1 }
    }
}

/// References that a frame may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Basis {
    /// The state after the last frame sent, as the codec chooses.
    #[default]
    Latest,
    /// The state after frame `0`, to which a stateful receiver goes back (Salsify section 3.2).
    After(u64),
    /// Named buffers of a standard decoder. A frame on this basis changes nothing in the decoder but pictures: its
    /// updates of the codec's probabilities apply only to itself, so that a lost frame affects only those that refer to
    /// its picture.
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

/// The standard decoder's buffers that a frame refers to and is kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffers {
    /// Lets it refer to the last frame: the newest one that became it.
    pub last: bool,
    /// The long-term buffer it may refer to, and the number of the frame in that buffer.
    pub long_term: Option<(LongTerm, u64)>,
    /// The long-term buffer that it is kept in.
    pub kept_in: Option<LongTerm>,
    /// Makes it the last frame. A frame that is neither that nor kept is needed by no other: the sender may drop
    /// it after encoding, and so may a relay.
    pub becomes_last: bool,
    /// True if the frame it refers to was sent. If not, it is encoded only to learn its size and cannot be sent either.
    pub sendable: bool,
}

/// A buffer whose picture stays until a frame replaces it, by its number in the codec, from 0: VP8's golden frame and
/// alternative reference, H.264's long-term frames, the slots of VP9 and AV1 but that of the last frame. Each codec says
/// how many it has; two are enough for every policy here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LongTerm(pub u8);

/// How large, or how good, a frame should be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target {
    /// A rate for the encoder's own rate control to keep.
    Rate(Rate),
    /// At most this many payload bytes.
    Size(Bytes),
    /// This quantiser, in the codec's own scale (VP8: y_ac_qi 0..=127).
    Quantizer(u8),
    /// About this many payload bytes, by a quantiser that is guessed from encoding the picture at half its width and
    /// height and not corrected afterwards: for an encoder that encodes only once (Salsify section 5.2, "conventional
    /// codec").
    Guess(Bytes),
}

/// An encoded frame, as far as the engine needs it: the bytes themselves stay with the caller. Make one with
/// [`EncodedFrame::new`] and set what differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncodedFrame {
    /// Payload bytes of the frame.
    pub size: Bytes,
    /// True if it refers to no other frame.
    pub keyframe: bool,
    /// Its temporal layer ([`Layer::number`]); 0 is the base, which refers to no other layer and includes keyframes.
    pub layer: u8,
    /// The quantiser it was encoded with, in the codec's own scale; `None` if the codec does not report it.
    pub quantizer: Option<u8>,
    /// The size of its picture, in pixels.
    pub picture: Size,
    /// The decoder's states before and after it; `None` from encoders that do not know them.
    pub transition: Option<Transition>,
}

impl EncodedFrame {
    /// A frame of this many payload bytes and pixels that refers to others, in the only layer, of which nothing else is known.
    pub const fn new(size: Bytes, picture: Size) -> EncodedFrame {
        EncodedFrame { size, keyframe: false, layer: 0, quantizer: None, picture, transition: None }
    }

    /// The same with what `change` sets.
    pub fn with(mut self, change: impl FnOnce(&mut EncodedFrame)) -> EncodedFrame {
        change(&mut self);
        self
    }
}
