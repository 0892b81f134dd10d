//! The source of a viewer's frames: its own encoder, or none if frames are already encoded.

use std::sync::Arc;

use thalweg_codecs::{Candidate, Codec, EncodeError, Encoder, Image};
use thalweg_sender::SenderFactory;
use thalweg_sender::frames::EncodePlan;
use thalweg_session::Encoded;
use thalweg_units::{Seed, Size};
use thalweg_video::Picture;

use super::camera::Seen;
use super::messages::{Key, Message, Outbox};
use super::passthrough::Passthrough;
use crate::encoder::EncoderThread;

/// Whether `scheme` chooses among candidates of a functional codec for pictures of this size. `codec` is `None` for
/// already encoded frames, of which each picture has only one, so that such a scheme cannot use them.
///
/// # Errors
/// When scheme and codec do not fit, with what to do about it.
pub(super) fn wants_candidates(codec: Option<&Codec>, scheme: &dyn SenderFactory, size: Size) -> Result<bool, String> {
    let wants = scheme.parts(size).map_err(|error| error.to_string())?.frames.wants_candidates();
    if codec.is_some() || !wants {
        return Ok(wants);
    }
    let name = scheme.name();
    Err(format!(
        "{name} chooses among frames, and video that is encoded already has one of each picture: choose another scheme, or encode here"
    ))
}

/// The parameters of a viewer's encoder.
#[derive(Debug, Clone)]
pub(super) struct Encoding {
    /// The codec; `None` for already encoded frames.
    pub(super) codec: Option<Codec>,
    pub(super) size: Size,
    pub(super) seed: Seed,
}

impl Encoding {
    /// Starts an encoder that can follow the plans of `scheme`. Its frames are reported with `number`, which
    /// distinguishes it from earlier encoders.
    pub(super) fn start(
        &self,
        scheme: &dyn SenderFactory,
        viewer: Key,
        number: u64,
        outbox: &Outbox,
    ) -> Result<Coder, String> {
        let wants_candidates = wants_candidates(self.codec.as_ref(), scheme, self.size)?;
        let codec = match &self.codec {
            None => return Ok(Coder::Passthrough(Passthrough::default())),
            Some(codec) if wants_candidates => codec.functional(),
            Some(codec) => codec.clone(),
        };
        let (size, seed, outbox) = (self.size, self.seed, outbox.clone());
        let made = move |made: Result<Vec<Encoded>, EncodeError>| {
            outbox.send(Message::Encoded { viewer, encoder: number, made })
        };
        let failed = made.clone();
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
        .map(Coder::Thread)
        .map_err(|error| format!("no thread for an encoder: {error}"))
    }
}

/// The source of a viewer's frames.
pub(super) enum Coder {
    Thread(EncoderThread<Option<Arc<Picture>>>),
    Passthrough(Passthrough),
}

impl Coder {
    /// Requests frames of picture `number`; returns those that are available at once.
    pub(super) fn encode(&mut self, number: u64, seen: Option<&Seen>, plan: EncodePlan) -> Option<Vec<Encoded>> {
        match (self, seen) {
            (Coder::Thread(encoder), Some(Seen::Picture(picture))) => encoder.encode(Some(picture.clone()), plan),
            (Coder::Thread(encoder), Some(Seen::Nothing)) => encoder.encode(None, plan),
            (Coder::Passthrough(frames), Some(Seen::Frame(frame))) => return Some(frames.offer(number, frame, &plan)),
            // The picture is too old, or has no frame for this coder: reported as if the encoder had dropped it.
            _ => return Some(Vec::new()),
        }
        None
    }

    /// Continues from this candidate of the last picture, or from none.
    pub(super) fn commit(&mut self, choice: Option<usize>) {
        match self {
            Coder::Thread(encoder) => encoder.commit(choice),
            Coder::Passthrough(frames) => frames.commit(choice.is_some()),
        }
    }

    /// The state after this frame is no longer needed.
    pub(super) fn forget(&mut self, frame: u64) {
        if let Coder::Thread(encoder) = self {
            encoder.forget(frame);
        }
    }
}
