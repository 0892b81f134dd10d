//! An encoder in a thread of its own: what takes milliseconds must not hold up packets.

use std::sync::Arc;
use std::sync::mpsc::{self, Sender};

use thalweg_codecs::{Codec, EncodeError, Encoder, Image};
use thalweg_sender::frames::EncodePlan;
use thalweg_session::Encoded;
use thalweg_units::{Seed, Size};
use thalweg_video::Picture;

use super::camera::spawn;

/// What an encoder is asked for.
enum Job {
    Encode { picture: Option<Arc<Picture>>, plan: Box<EncodePlan> },
    Commit(Option<usize>),
    Forget(u64),
}

/// The handle of an encoder. Its thread ends when this is dropped.
pub struct EncoderThread {
    jobs: Sender<Job>,
}

impl EncoderThread {
    /// An encoder of this codec for pictures of `size`; `made` is called in its thread with what it made of each picture.
    ///
    /// # Errors
    /// When a setting or the size is out of range, or the codec was left out of this build.
    pub fn start(
        codec: &Codec,
        size: Size,
        seed: Seed,
        mut made: impl FnMut(Result<Vec<Encoded>, EncodeError>) + Send + 'static,
    ) -> Result<EncoderThread, EncodeError> {
        let mut encoder = codec.build_seeded(size, seed)?.encoder;
        let (jobs, inbox) = mpsc::channel();
        spawn("encoder", move || {
            for job in inbox {
                match job {
                    Job::Encode { picture, plan } => made(encode(&mut *encoder, picture.as_deref(), size, &plan)),
                    Job::Commit(choice) => {
                        if let Err(error) = encoder.commit(choice) {
                            made(Err(error));
                        }
                    }
                    Job::Forget(frame) => encoder.forget(frame),
                }
            }
        });
        Ok(EncoderThread { jobs })
    }

    /// Encodes a picture; `None` for encoders that look at none.
    pub fn encode(&self, picture: Option<Arc<Picture>>, plan: EncodePlan) {
        // The thread lives as long as this does.
        let _ = self.jobs.send(Job::Encode { picture, plan: Box::new(plan) });
    }

    /// Goes on from this candidate of the last picture, or from none.
    pub fn commit(&self, choice: Option<usize>) {
        let _ = self.jobs.send(Job::Commit(choice));
    }

    /// The state after this frame need not be kept.
    pub fn forget(&self, frame: u64) {
        let _ = self.jobs.send(Job::Forget(frame));
    }
}

fn encode(
    encoder: &mut dyn Encoder,
    picture: Option<&Picture>,
    size: Size,
    plan: &EncodePlan,
) -> Result<Vec<Encoded>, EncodeError> {
    let image = picture.map_or(Image::blank(size), Image::from);
    let candidates = encoder.offer(image, plan)?;
    Ok(candidates.into_iter().map(|candidate| Encoded { frame: candidate.frame, data: candidate.data }).collect())
}
