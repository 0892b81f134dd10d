//! An encoder in a thread of its own: what takes milliseconds must not hold up packets.

use std::io;
use std::sync::mpsc::{self, Sender};

use thalweg_codecs::{EncodeError, Encoder};
use thalweg_sender::frames::EncodePlan;

use crate::thread::spawn;

/// What an encoder is asked for. A picture is whatever its thread knows one by.
enum Job<P> {
    Encode { picture: P, plan: Box<EncodePlan> },
    Commit(Option<usize>),
    Forget(u64),
}

/// The handle of an encoder. Its thread ends when this is dropped.
pub struct EncoderThread<P> {
    jobs: Sender<Job<P>>,
}

impl<P: Send + 'static> EncoderThread<P> {
    /// Starts the thread, in which all three are called: `build` makes the encoder, `encode` has it make frames of a picture and passes
    /// them on, and `failed` hears when there is no encoder or when it cannot go on from a choice.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(
        build: impl FnOnce() -> Result<Box<dyn Encoder>, EncodeError> + Send + 'static,
        mut encode: impl FnMut(&mut dyn Encoder, P, &EncodePlan) + Send + 'static,
        mut failed: impl FnMut(EncodeError) + Send + 'static,
    ) -> io::Result<EncoderThread<P>> {
        let (jobs, inbox) = mpsc::channel();
        spawn("encoder", move || {
            let mut encoder = match build() {
                Ok(encoder) => encoder,
                Err(error) => return failed(error),
            };
            for job in inbox {
                match job {
                    Job::Encode { picture, plan } => encode(&mut *encoder, picture, &plan),
                    Job::Commit(choice) => encoder.commit(choice).unwrap_or_else(&mut failed),
                    Job::Forget(frame) => encoder.forget(frame),
                }
            }
        })?;
        Ok(EncoderThread { jobs })
    }

    /// Encodes a picture.
    pub fn encode(&self, picture: P, plan: EncodePlan) {
        // One that has failed has said so.
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
