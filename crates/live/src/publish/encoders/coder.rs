//! The source of a viewer's frames: its own encoder, one that it shares, or none if frames are already encoded.

use std::sync::Arc;

use thalweg_codecs::{Candidate, Codec, EncodeError, Encoder, Image};
use thalweg_sender::SenderFactory;
use thalweg_sender::frames::EncodePlan;
use thalweg_session::Encoded;
use thalweg_units::{Seed, Size, Time};
use thalweg_video::Picture;

use super::passthrough::{Choice, Frame, Passthrough};
use crate::encoder::EncoderThread;
use crate::publish::messages::{Key, Message, Outbox, RungId};
use crate::publish::sources::camera::Seen;

/// Returns true if `scheme` chooses among candidates of a functional codec for pictures of this size. `codec` is `None`
/// for already encoded frames, of which each picture has only one, so that such a scheme cannot use them.
///
/// # Errors
/// When scheme and codec do not fit, with what to do about it.
pub(crate) fn wants_candidates(codec: Option<&Codec>, scheme: &dyn SenderFactory, size: Size) -> Result<bool, String> {
    let wants = scheme.parts(size).map_err(|error| error.to_string())?.frames.wants_candidates();
    if codec.is_some() || !wants {
        return Ok(wants);
    }
    let name = scheme.name();
    Err(format!(
        "{name} chooses among frames, and video that is encoded already has one of each picture: choose another scheme, or encode here"
    ))
}

/// Returns true if a sender of `scheme` can do with frames of an encoder that others share: it asks for a rate, and
/// refers to the last frame.
pub(crate) fn can_share(codec: Option<&Codec>, scheme: &dyn SenderFactory, size: Size) -> bool {
    codec.is_some()
        && scheme.parts(size).is_ok_and(|parts| {
            let frames = parts.frames;
            frames.demand().is_some() && frames.layers() == 1 && !frames.wants_candidates()
        })
}

/// Checks whether a sender of `scheme` bounds the bytes in flight.
pub(crate) fn has_window(scheme: &dyn SenderFactory, size: Size) -> Result<bool, String> {
    let parts = scheme.parts(size).map_err(|error| error.to_string())?;
    Ok(parts.controller.limits().window.is_some())
}

/// The parameters of a viewer's encoder.
#[derive(Debug, Clone)]
pub(crate) struct Encoding {
    /// The codec; `None` for already encoded frames.
    pub(crate) codec: Option<Codec>,
    /// True if they come from a sender that can be asked for keyframes.
    pub(crate) relayed: bool,
    pub(crate) size: Size,
    pub(crate) seed: Seed,
}

impl Encoding {
    /// Starts an encoder that can follow the plans of `scheme`. Its frames are reported with `number`, which
    /// distinguishes it from earlier encoders.
    pub(crate) fn start(
        &self,
        scheme: &dyn SenderFactory,
        viewer: Key,
        number: u64,
        outbox: &Outbox,
    ) -> Result<Coder, String> {
        let wants_candidates = wants_candidates(self.codec.as_ref(), scheme, self.size)?;
        let codec = match &self.codec {
            // What is in flight is bounded by the window, if there is one. A sender without one sends all that it is given, and
            // learns by the delay that it was too much: its target bounds it.
            None if self.relayed && !has_window(scheme, self.size)? => {
                return Ok(Coder::Passthrough(Passthrough::within_target()));
            }
            None => return Ok(Coder::Passthrough(Passthrough::default())),
            Some(codec) if wants_candidates => codec.functional(),
            Some(codec) => codec.clone(),
        };
        let outbox = outbox.clone();
        let made = move |made| outbox.send(Message::Encoded { viewer, encoder: number, made });
        self.thread(codec, made).map(Coder::Thread)
    }

    /// Starts an encoder, whose frames go to `made`.
    pub(crate) fn thread(
        &self,
        codec: Codec,
        made: impl Fn(Result<Vec<Encoded>, EncodeError>) + Clone + Send + 'static,
    ) -> Result<EncoderThread<Option<Arc<Picture>>>, String> {
        let (size, seed, failed) = (self.size, self.seed, made.clone());
        let encode = move |encoder: &mut dyn Encoder, picture: Option<Arc<Picture>>, plan: &EncodePlan| {
            let image = picture.as_deref().map_or(Image::blank(size), Image::from);
            let candidates = encoder.offer(image, plan);
            let encoded = |made: Candidate| Encoded { frame: made.frame, data: made.data };
            made(candidates.map(|candidates| candidates.into_iter().map(encoded).collect()));
        };
        EncoderThread::start(
            move || codec.build_seeded(size, seed).map(|pair| pair.encoder),
            encode,
            move |error| failed(Err(error)),
        )
        .map_err(|error| format!("no thread for an encoder: {error}"))
    }
}

/// The outcome of a request for frames.
pub(crate) enum Made {
    /// These frames, at once: none if the picture was dropped.
    Now(Vec<Encoded>),
    /// They come later.
    Later,
    /// Nothing can be sent before the next keyframe.
    KeyframeNeeded,
}

/// Who is asked for a keyframe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyframeSource {
    /// A shared encoder.
    Rung(RungId),
    /// The sender of the frames that are passed on.
    Upstream,
}

/// The source of a viewer's frames.
pub(crate) enum Coder {
    Thread(EncoderThread<Option<Arc<Picture>>>),
    Passthrough(Passthrough),
    /// A shared encoder: its frames are offered when it has made them.
    Rung(RungId, Passthrough),
}

impl Coder {
    /// Requests frames of picture `number`.
    pub(crate) fn encode(&mut self, now: Time, number: u64, seen: Option<&Seen>, plan: EncodePlan) -> Made {
        match (self, seen) {
            (Coder::Thread(encoder), Some(Seen::Picture(picture))) => encoder.encode(Some(picture.clone()), plan),
            (Coder::Thread(encoder), Some(Seen::Nothing)) => encoder.encode(None, plan),
            (Coder::Passthrough(passthrough), Some(Seen::Frame(encoded))) => {
                let frame = Frame::of_file(number, encoded);
                return match passthrough.offer(now, std::iter::once(&frame), &plan) {
                    Choice::Frame(frame) => Made::Now(vec![frame.encoded.clone()]),
                    Choice::Nothing => Made::Now(Vec::new()),
                    Choice::KeyframeNeeded => Made::KeyframeNeeded,
                };
            }
            // The picture is too old, or has no frame for this coder: reported as if the encoder had dropped it.
            _ => return Made::Now(Vec::new()),
        }
        Made::Later
    }

    /// Continues from this candidate of the last picture, or from none.
    pub(crate) fn commit(&mut self, choice: Option<usize>) {
        match self {
            Coder::Thread(encoder) => encoder.commit(choice),
            Coder::Passthrough(passthrough) | Coder::Rung(_, passthrough) => passthrough.commit(choice.is_some()),
        }
    }

    /// The state after this frame is no longer needed.
    pub(crate) fn forget(&mut self, frame: u64) {
        if let Coder::Thread(encoder) = self {
            encoder.forget(frame);
        }
    }
}
