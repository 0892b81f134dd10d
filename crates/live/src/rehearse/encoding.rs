//! The encoder, with its pictures, in a thread of its own.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use thalweg_codecs::{Candidate, Encoder, Image};
use thalweg_lab::footage::Footage;
use thalweg_sender::frames::EncodePlan;
use thalweg_units::{Size, Time};

use super::RehearseError;
use crate::reactor::Waker;

enum Job {
    Encode { picture: u64, plan: Box<EncodePlan> },
    Commit(Option<usize>),
    Forget(u64),
}

type Made = Result<Vec<Candidate>, RehearseError>;

/// The handle of the encoder. Its thread ends when this is dropped.
pub(super) struct Encoding {
    jobs: Sender<Job>,
    made: Receiver<Made>,
    settings: String,
    is_model: bool,
    /// When what is asked for may be handed over, were it made already.
    earliest: Time,
    /// Made, and not yet handed over.
    waiting: Option<Vec<Candidate>>,
}

impl Encoding {
    /// Starts the thread; `waker` is used when something was made. `footage` is none for a model, which looks at no pictures.
    pub(super) fn start(
        mut encoder: Box<dyn Encoder>,
        mut footage: Option<Footage>,
        size: Size,
        waker: Waker,
    ) -> Result<Encoding, RehearseError> {
        let (settings, is_model) = (encoder.settings(), footage.is_none());
        let (jobs, inbox) = mpsc::channel();
        let (answer, made) = mpsc::channel();
        thread::Builder::new().name("encoder".into()).spawn(move || {
            for job in inbox {
                let done = match job {
                    Job::Encode { picture, plan } => {
                        let made = encode(&mut *encoder, footage.as_mut(), size, picture, &plan);
                        Some((made, picture + 1))
                    }
                    Job::Commit(choice) => encoder.commit(choice).err().map(|error| (Err(error.into()), 0)),
                    Job::Forget(frame) => {
                        encoder.forget(frame);
                        None
                    }
                };
                let Some((made, next)) = done else { continue };
                if answer.send(made).is_err() {
                    return;
                }
                waker.wake();
                // The camera's next picture is at hand when it is asked for; what is wrong with it is said then.
                if let Some(footage) = &mut footage {
                    let _ = footage.picture(next);
                }
            }
        })?;
        Ok(Encoding { jobs, made, settings, is_model, earliest: Time::NEVER, waiting: None })
    }

    /// The encoder's settings, as it prints them.
    pub(super) fn settings(&self) -> &str {
        &self.settings
    }

    /// Asks for a picture at `now`. A model's frames are handed over at `done`, when an encoder would have made them.
    pub(super) fn encode(&mut self, now: Time, done: Time, picture: u64, plan: EncodePlan) {
        self.earliest = if self.is_model { done } else { now };
        // The thread lives as long as this does.
        let _ = self.jobs.send(Job::Encode { picture, plan: Box::new(plan) });
    }

    pub(super) fn commit(&self, choice: Option<usize>) {
        let _ = self.jobs.send(Job::Commit(choice));
    }

    pub(super) fn forget(&self, frame: u64) {
        let _ = self.jobs.send(Job::Forget(frame));
    }

    /// When [`Encoding::take`] has something, as far as is known.
    pub(super) fn next_event(&self) -> Time {
        if self.waiting.is_some() { self.earliest } else { Time::NEVER }
    }

    /// What was made, when it is time.
    pub(super) fn take(&mut self, now: Time) -> Result<Option<Vec<Candidate>>, RehearseError> {
        if let Ok(made) = self.made.try_recv() {
            self.waiting = Some(made?);
        }
        Ok(if self.earliest <= now { self.waiting.take() } else { None })
    }
}

fn encode(
    encoder: &mut dyn Encoder,
    footage: Option<&mut Footage>,
    size: Size,
    number: u64,
    plan: &EncodePlan,
) -> Made {
    let Some(footage) = footage else { return Ok(encoder.offer(Image::blank(size), plan)?) };
    let picture = footage
        .picture(number)?
        .ok_or_else(|| RehearseError::Scenario(format!("the video ends at picture {number}, before the run does")))?;
    Ok(encoder.candidates(&picture, plan)?)
}
