//! The seam between the engine's plans and a codec.

use std::sync::Arc;

use thalweg_sender::frames::{EncodePlan, EncodedFrame};
use thalweg_units::Size;
use thalweg_video::Picture;

/// One way to encode a picture.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The frame's bytes, as they go into packets.
    pub data: Arc<[u8]>,
    /// What the engine needs to know of it; `frame.size` may exceed `data.len()` only for encoder models, which make no bytes.
    pub frame: EncodedFrame,
}

/// An encoder.
///
/// [`Encoder::candidates`] makes frames, [`Encoder::commit`] says which one (if any) is sent. A functional codec offers several
/// and goes on from the chosen one; a conventional encoder has one candidate, and it is committed: choosing `None` for it costs
/// a keyframe, because its references now hold a frame the receiver will not see.
pub trait Encoder: Send {
    /// Encodes `picture` once for each target of `plan`. An empty answer means the encoder's own rate control dropped the
    /// frame.
    ///
    /// # Errors
    /// When the plan asks for something the codec cannot do, with the value, the range and the fix.
    fn candidates(&mut self, picture: &Picture, plan: &EncodePlan) -> Result<Vec<Candidate>, EncodeError>;

    /// Goes on from candidate `choice` of the last call, or as if that call had not been made.
    ///
    /// # Errors
    /// When `choice` is not the index of a candidate.
    fn commit(&mut self, choice: Option<usize>) -> Result<(), EncodeError>;

    /// The settings that decide its behaviour, printed with every result.
    fn settings(&self) -> String;
}

/// A decoder.
pub trait Decoder: Send {
    /// Decodes one frame; `None` when it is not meant to be shown.
    ///
    /// # Errors
    /// When the bytes are not a frame of this codec, or refer to pictures that never came.
    fn decode(&mut self, data: &[u8]) -> Result<Option<Picture>, DecodeError>;
}

/// An encoder refused.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// The plan asks for a size outside what the codec can do.
    #[error("{codec} cannot encode {size}: {range}")]
    Size {
        /// Which codec.
        codec: &'static str,
        /// The size asked for.
        size: Size,
        /// What it can do, and what to change.
        range: String,
    },
    /// The plan asks for a kind or a number of targets the codec does not know.
    #[error("{codec} cannot aim at {target}: {range}")]
    Target {
        /// Which codec.
        codec: &'static str,
        /// What was asked for.
        target: String,
        /// What it can do, and what to change.
        range: String,
    },
    /// A choice that is no candidate.
    #[error("candidate {choice} chosen of {candidates}")]
    Choice {
        /// The index given.
        choice: usize,
        /// How many there were.
        candidates: usize,
    },
    /// The library says no.
    #[error("{codec}: {call} failed: {reason}")]
    Library {
        /// Which codec.
        codec: &'static str,
        /// The call that failed.
        call: &'static str,
        /// The library's words.
        reason: String,
    },
}

/// A frame could not be decoded.
#[derive(Debug, thiserror::Error)]
#[error("{codec} cannot decode a frame of {length} bytes: {reason}")]
pub struct DecodeError {
    /// Which codec.
    pub codec: &'static str,
    /// How long the frame is.
    pub length: usize,
    /// What is wrong with it.
    pub reason: String,
}
