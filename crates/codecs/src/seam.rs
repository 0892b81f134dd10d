//! The seam between the engine's plans and a codec.

use std::borrow::Cow;
use std::sync::Arc;

use thalweg_media::{Basis, EncodePlan, EncodedFrame, StateHash};
use thalweg_units::Size;
use thalweg_video::{Picture, scale};

/// What an encoder is shown.
#[derive(Debug, Clone, Copy)]
pub struct Image<'a> {
    /// The size of the source's picture, before it is scaled to the size of the plan.
    pub size: Size,
    /// Its samples; `None` for encoders that look at none ([`Codec::is_model`](crate::Codec::is_model)).
    pub picture: Option<&'a Picture>,
}

impl Image<'_> {
    /// A picture of which only the size is known.
    pub const fn blank(size: Size) -> Image<'static> {
        Image { size, picture: None }
    }
}

impl<'a> From<&'a Picture> for Image<'a> {
    fn from(picture: &'a Picture) -> Image<'a> {
        Image { size: picture.size(), picture: Some(picture) }
    }
}

/// A picture at the size it is to be encoded at: itself where it has that already.
pub(crate) fn at_size(picture: &Picture, size: Size) -> Cow<'_, Picture> {
    if picture.size() == size { Cow::Borrowed(picture) } else { Cow::Owned(scale(picture, size)) }
}

/// Refuses plans that only a codec whose states are values can follow, or one with buffers that have names.
#[cfg(feature = "openh264")]
pub(crate) fn latest_only(codec: &'static str, plan: &EncodePlan) -> Result<(), EncodeError> {
    let range = "only to the last one sent (layers and long-term buffers: vp8 or vp9; all of them: functional)";
    refers(codec, plan, plan.basis == Basis::Latest, range)
}

/// Refuses plans that only a codec whose states are values can follow, but not named buffers.
pub(crate) fn buffers_at_most(codec: &'static str, plan: &EncodePlan) -> Result<(), EncodeError> {
    let range = "only to the last one sent or a buffer (all of them: functional)";
    refers(codec, plan, matches!(plan.basis, Basis::Latest | Basis::Buffers(_)), range)
}

fn refers(codec: &'static str, plan: &EncodePlan, can: bool, range: &'static str) -> Result<(), EncodeError> {
    if !can {
        return Err(EncodeError::Basis { codec, basis: plan.basis, range });
    }
    plan.keep.map_or(Ok(()), |frame| Err(EncodeError::Keep { codec, frame }))
}

/// How good a frame would look by a model's account; never what was measured on pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelledQuality {
    /// PSNR of luma in dB against the source at the source's size, as [`thalweg_video::quality::psnr`] would measure it.
    pub psnr_db: f64,
    /// SSIM of luma as -10 log10(1 - SSIM) in dB, likewise.
    pub ssim_db: f64,
}

/// One way to encode a picture.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The frame's bytes, as they go into packets.
    pub data: Arc<[u8]>,
    /// What the engine needs to know of it; `frame.size` may exceed `data.len()` only for encoder models, which make no bytes.
    pub frame: EncodedFrame,
    /// What a model says of its quality; `None` from real encoders, whose frames can be decoded and measured.
    pub modelled: Option<ModelledQuality>,
}

/// An encoder.
///
/// [`Encoder::offer`] makes frames, [`Encoder::commit`] says which one (if any) is sent. A functional codec offers several
/// and goes on from the chosen one; a conventional encoder has one candidate, and it is committed: choosing `None` for it costs
/// a keyframe, because its references now hold a frame the receiver will not see. A frame that no buffer keeps costs nothing, and
/// one that is kept in a long-term buffer only what refers to it: that can be made, to know its size, and not be sent.
pub trait Encoder: Send {
    /// Encodes `image` once for each target of `plan`. An empty answer means the encoder's own rate control dropped the
    /// frame: then there is nothing to commit.
    ///
    /// # Errors
    /// When the plan asks for something the codec cannot do, with the value, the range and the fix, or when an encoder that
    /// looks at samples is given none.
    fn offer(&mut self, image: Image<'_>, plan: &EncodePlan) -> Result<Vec<Candidate>, EncodeError>;

    /// [`Encoder::offer`] for a picture at hand.
    ///
    /// # Errors
    /// As [`Encoder::offer`].
    fn candidates(&mut self, picture: &Picture, plan: &EncodePlan) -> Result<Vec<Candidate>, EncodeError> {
        self.offer(Image::from(picture), plan)
    }

    /// Goes on from candidate `choice` of the last call, or as if that call had not been made.
    ///
    /// # Errors
    /// When `choice` is not the index of a candidate.
    fn commit(&mut self, choice: Option<usize>) -> Result<(), EncodeError>;

    /// The state kept for this frame ([`EncodePlan::keep`]) will not be asked for again. An encoder that keeps none has nothing
    /// to do.
    fn forget(&mut self, frame: u64) {
        let _ = frame;
    }

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

    /// Its state as values, if it can be gone back to; `None` from a decoder that has but one and does not show it.
    fn states(&mut self) -> Option<&mut dyn States> {
        None
    }
}

/// The states of a decoder that can go back to earlier ones.
pub trait States {
    /// Names the state the decoder is in.
    fn current(&self) -> StateHash;

    /// Remembers the state the decoder is in.
    fn keep(&mut self);

    /// Goes back to a state that was kept, or to the beginning, which every decoder has; says whether it could.
    fn load(&mut self, state: StateHash) -> bool;

    /// Forgets a state that was kept, if it was.
    fn forget(&mut self, state: StateHash);
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
    /// The plan asks for a frame that refers to what this codec does not have.
    #[error("{codec} cannot make a frame that refers to {basis}: {range}")]
    Basis {
        /// Which codec.
        codec: &'static str,
        /// What was asked for.
        basis: Basis,
        /// What it can do, and what to change.
        range: &'static str,
    },
    /// The plan asks for a state to be kept that this codec cannot take out of itself.
    #[error("{codec} cannot keep the state after frame {frame}, functional can")]
    Keep {
        /// Which codec.
        codec: &'static str,
        /// After which frame.
        frame: u64,
    },
    /// An encoder that looks at samples was given none.
    #[error("{codec} needs samples and was given only the size {size}: only a model can do without them")]
    Blank {
        /// Which codec.
        codec: &'static str,
        /// The size given.
        size: Size,
    },
    /// A setting is out of range.
    #[error("{codec}: {setting} is {value}, must be {range}")]
    Setting {
        /// Which codec.
        codec: &'static str,
        /// Which setting.
        setting: &'static str,
        /// Its value.
        value: String,
        /// What it can be, with an example.
        range: &'static str,
    },
    /// The codec is not in this build.
    #[error(transparent)]
    LeftOut(crate::names::ParseCodecError),
    /// A choice that is no candidate.
    #[error("candidate {choice} chosen of {candidates}")]
    Choice {
        /// The index given.
        choice: usize,
        /// How many there were.
        candidates: usize,
    },
    /// A choice that no receiver could decode.
    #[error("candidate {choice} refers to a frame that was not sent, so it cannot be sent either: choose none")]
    Unsendable {
        /// The index given.
        choice: usize,
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
