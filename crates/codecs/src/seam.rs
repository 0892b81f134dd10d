//! The interface between the engine's plans and a codec.

use std::borrow::Cow;
use std::sync::Arc;

use thalweg_types::{Basis, EncodePlan, EncodedFrame, StateHash};
use thalweg_units::{ConfigError, Size, Span};
use thalweg_video::{Picture, scale};

use crate::vp8;

/// The input of an encoder.
#[derive(Debug, Clone, Copy)]
pub struct Image<'a> {
    /// The size of the source picture, before scaling to the plan's size.
    pub size: Size,
    /// Its samples; `None` for encoders that read none ([`Codec::is_model`](crate::Codec::is_model)).
    pub picture: Option<&'a Picture>,
}

impl Image<'_> {
    /// A picture with a size and no samples.
    pub const fn blank(size: Size) -> Image<'static> {
        Image { size, picture: None }
    }
}

impl<'a> From<&'a Picture> for Image<'a> {
    fn from(picture: &'a Picture) -> Image<'a> {
        Image { size: picture.size(), picture: Some(picture) }
    }
}

/// The picture scaled to `size`; borrowed if it already has that size.
pub(crate) fn at_size(picture: &Picture, size: Size) -> Cow<'_, Picture> {
    if picture.size() == size { Cow::Borrowed(picture) } else { Cow::Owned(scale(picture, size)) }
}

/// Rejects plans that need a functional codec (one whose states are values), and plans with named buffers.
#[cfg(feature = "openh264")]
pub(crate) fn latest_only(codec: &'static str, plan: &EncodePlan) -> Result<(), EncodeError> {
    let range = "only to the last one sent (layers and long-term buffers: vp8 or vp9; all of them: functional)";
    refers(codec, plan, plan.basis == Basis::Latest, range)
}

/// Rejects plans that need a functional codec (one whose states are values), but accepts named buffers.
pub(crate) fn buffers_at_most(codec: &'static str, plan: &EncodePlan) -> Result<(), EncodeError> {
    let range = "only to the last one sent or one of two long-term buffers (kept states: functional)";
    refers(codec, plan, !matches!(plan.basis, Basis::After(_)) && vp8::suffices(plan.basis), range)
}

fn refers(codec: &'static str, plan: &EncodePlan, can: bool, range: &'static str) -> Result<(), EncodeError> {
    if !can {
        return Err(EncodeError::Basis { codec, basis: plan.basis, range });
    }
    plan.keep.map_or(Ok(()), |frame| Err(EncodeError::Keep { codec, frame }))
}

/// Quality of a frame as estimated by a model, never measured on pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelledQuality {
    /// PSNR of luma in dB against the source at the source's size, as [`thalweg_video::quality::psnr`] would measure
    /// it.
    pub psnr_db: f64,
    /// SSIM of luma as -10 log10(1 - SSIM) in dB, likewise.
    pub ssim_db: f64,
}

/// One possible encoding of a picture.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The frame's bytes, as they go into packets.
    pub data: Arc<[u8]>,
    /// Description of the frame for the engine; `frame.size` may exceed `data.len()` only for encoder models, which
    /// make no bytes.
    pub frame: EncodedFrame,
    /// The model's quality estimate; `None` from real encoders, whose frames can be decoded and measured.
    pub modelled: Option<ModelledQuality>,
}

/// An encoder.
///
/// [`Encoder::offer`] makes frames, [`Encoder::commit`] selects the one that is sent, if any. A functional codec offers
/// several and continues from the selected one. A conventional encoder has one candidate: choosing `None` costs a
/// keyframe, because its references now hold a frame that the receiver will not get. A frame that no buffer keeps costs
/// nothing, and one kept in a long-term buffer costs only the frames that refer to it: such a frame can be made just to
/// learn its size.
pub trait Encoder: Send {
    /// Encodes `image` once for each target of `plan`. An empty result means that the encoder's own rate control
    /// dropped the frame: then there is nothing to commit.
    ///
    /// # Errors
    /// When the plan asks for something the codec cannot do (the error gives the value, the range and the fix), or when
    /// an encoder that reads samples is given none.
    fn offer(&mut self, image: Image<'_>, plan: &EncodePlan) -> Result<Vec<Candidate>, EncodeError>;

    /// [`Encoder::offer`] for a picture with samples.
    ///
    /// # Errors
    /// As [`Encoder::offer`].
    fn candidates(&mut self, picture: &Picture, plan: &EncodePlan) -> Result<Vec<Candidate>, EncodeError> {
        self.offer(Image::from(picture), plan)
    }

    /// Continues from candidate `choice` of the last offer; with `None`, as if that offer had not been made.
    ///
    /// # Errors
    /// When `choice` is not the index of a candidate.
    fn commit(&mut self, choice: Option<usize>) -> Result<(), EncodeError>;

    /// How much longer than [`CodecTime`](crate::CodecTime) says the last offer takes in virtual time; zero unless the
    /// time a frame takes is itself modelled ([`traffic`](crate::traffic)).
    fn delay(&self) -> Span {
        Span::ZERO
    }

    /// Takes the time that the last offer took on this machine, for an encoder that keeps up with pictures at this
    /// interval by less effort; others do nothing. In virtual time it is never called: there a frame takes what
    /// [`CodecTime`](crate::CodecTime) says, and the same scenario gives the same bytes on every machine.
    fn on_encoded(&mut self, took: Span, interval: Span) {
        let _ = (took, interval);
    }

    /// Releases the state kept for this frame ([`EncodePlan::keep`]): it will not be requested again. Encoders that
    /// keep no states do nothing.
    fn forget(&mut self, frame: u64) {
        let _ = frame;
    }

    /// The settings that determine its behaviour, printed with every result.
    fn settings(&self) -> String;
}

/// A decoder.
pub trait Decoder: Send {
    /// Decodes one frame; `None` when it is not meant to be shown.
    ///
    /// # Errors
    /// When the bytes are not a frame of this codec, or refer to pictures that were not received.
    fn decode(&mut self, data: &[u8]) -> Result<Option<Picture>, DecodeError>;

    /// Access to the decoder's states; `None` if it cannot return to earlier ones.
    fn states(&mut self) -> Option<&mut dyn States> {
        None
    }
}

/// States of a decoder that can return to earlier ones.
pub trait States {
    /// Hash of the decoder's current state.
    fn current(&self) -> StateHash;

    /// Keeps the decoder's current state.
    fn keep(&mut self);

    /// Returns to a kept state, or to the initial state, which is always available; returns whether it could.
    fn load(&mut self, state: StateHash) -> bool;

    /// Releases a kept state, if there is one.
    fn forget(&mut self, state: StateHash);
}

/// Why an encoder cannot do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// The plan's size is outside the codec's range.
    #[error("{codec} cannot encode {size}: {range}")]
    Size {
        /// The codec.
        codec: &'static str,
        /// The requested size.
        size: Size,
        /// The supported range, and what to change.
        range: String,
    },
    /// The codec does not support this kind or number of targets.
    #[error("{codec} cannot aim at {target}: {range}")]
    Target {
        /// The codec.
        codec: &'static str,
        /// The requested target.
        target: String,
        /// The supported range, and the setting to change.
        range: String,
    },
    /// The plan's frame refers to a frame or buffer that this codec does not have.
    #[error("{codec} cannot make a frame that refers to {basis}: {range}")]
    Basis {
        /// The codec.
        codec: &'static str,
        /// The requested basis.
        basis: Basis,
        /// The supported range, and the setting to change.
        range: &'static str,
    },
    /// The plan asks to keep a state, which this codec cannot do.
    #[error("{codec} cannot keep the state after frame {frame}, functional can")]
    Keep {
        /// The codec.
        codec: &'static str,
        /// The frame whose state was to be kept.
        frame: u64,
    },
    /// An encoder that reads samples was given none.
    #[error("{codec} needs samples and was given only the size {size}: only a model can do without them")]
    Blank {
        /// The codec.
        codec: &'static str,
        /// The picture's size.
        size: Size,
    },
    /// A setting is out of range.
    #[error("{codec}: {error}")]
    Setting {
        /// The codec.
        codec: &'static str,
        /// The setting, its value and its range.
        error: ConfigError,
    },
    /// This build does not include the codec.
    #[error(transparent)]
    LeftOut(crate::names::ParseCodecError),
    /// The chosen index is not a candidate.
    #[error("candidate {choice} chosen of {candidates}")]
    Choice {
        /// The index given.
        choice: usize,
        /// Number of candidates.
        candidates: usize,
    },
    /// The chosen candidate could not be decoded by any receiver.
    #[error("candidate {choice} refers to a frame that was not sent, so it cannot be sent either: choose none")]
    Unsendable {
        /// The index given.
        choice: usize,
    },
    /// A call of the codec library failed.
    #[error("{codec}: {call} failed: {reason}")]
    Library {
        /// The codec.
        codec: &'static str,
        /// The name of the call.
        call: &'static str,
        /// The library's error message.
        reason: String,
    },
}

impl EncodeError {
    /// Adds the codec to the error of a setting.
    pub(crate) fn of_setting(codec: &'static str) -> impl Fn(ConfigError) -> EncodeError {
        move |error| EncodeError::Setting { codec, error }
    }
}

/// A frame could not be decoded.
#[derive(Debug, thiserror::Error)]
#[error("{codec} cannot decode a frame of {length} bytes: {reason}")]
pub struct DecodeError {
    /// The codec.
    pub codec: &'static str,
    /// Length of the frame in bytes.
    pub length: usize,
    /// The reason.
    pub reason: String,
}
