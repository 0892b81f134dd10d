//! An encoder in its own thread: encoding takes milliseconds and must not delay packets.

use std::io;
use std::sync::mpsc::{self, Sender};

use thalweg_codecs::{EncodeError, Encoder};
use thalweg_sender::frames::EncodePlan;

use thalweg_emulate::clock::Clock;
use thalweg_emulate::thread::spawn;

/// A request to the encoder. `P` is how the thread identifies a picture.
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
    /// Starts the thread, in which all three closures are called: `build` makes the encoder, `encode` makes frames of a
    /// picture and passes them on, and `failed` gets the error when there is no encoder or when it cannot continue from
    /// a choice.
    ///
    /// # Errors
    /// When the system cannot start a thread.
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
            let clock = Clock::new();
            for job in inbox {
                match job {
                    Job::Encode { picture, plan } => {
                        let since = clock.now();
                        encode(&mut *encoder, picture, &plan);
                        encoder.on_encoded(clock.now() - since, plan.interval);
                    }
                    Job::Commit(choice) => encoder.commit(choice).unwrap_or_else(&mut failed),
                    Job::Forget(frame) => encoder.forget(frame),
                }
            }
        })?;
        Ok(EncoderThread { jobs })
    }

    /// Encodes a picture.
    pub fn encode(&self, picture: P, plan: EncodePlan) {
        // A failed encoder has already reported its error.
        let _ = self.jobs.send(Job::Encode { picture, plan: Box::new(plan) });
    }

    /// Continues from this candidate of the last picture, or from none.
    pub fn commit(&self, choice: Option<usize>) {
        let _ = self.jobs.send(Job::Commit(choice));
    }

    /// The state after this frame is no longer needed.
    pub fn forget(&self, frame: u64) {
        let _ = self.jobs.send(Job::Forget(frame));
    }
}
