//! The encoder and its pictures, in their thread.

use std::sync::mpsc::{self, Receiver};

use thalweg_codecs::{Candidate, EncodeError, Encoder, Image};
use thalweg_lab::footage::Footage;
use thalweg_sender::frames::EncodePlan;
use thalweg_units::{Size, Time};

use super::RehearseError;
use crate::encoder::EncoderThread;
use crate::reactor::Waker;

type Made = Result<Vec<Candidate>, RehearseError>;

/// The encoder, which knows pictures by their numbers.
pub(super) struct Encoding {
    thread: EncoderThread<u64>,
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
        encoder: Box<dyn Encoder>,
        mut footage: Option<Footage>,
        size: Size,
        waker: Waker,
    ) -> Result<Encoding, RehearseError> {
        let (settings, is_model) = (encoder.settings(), footage.is_none());
        let (answer, made) = mpsc::channel();
        let (failing, wakes) = (answer.clone(), waker.clone());
        let encode = move |encoder: &mut dyn Encoder, picture: u64, plan: &EncodePlan| {
            // Whoever asked may have gone.
            let _ = answer.send(encode(encoder, footage.as_mut(), size, picture, plan));
            waker.wake();
            // The camera's next picture is at hand when it is asked for; what is wrong with it is said then.
            if let Some(footage) = &mut footage {
                let _ = footage.picture(picture + 1);
            }
        };
        let failed = move |error: EncodeError| {
            let _ = failing.send(Err(error.into()));
            wakes.wake();
        };
        let thread = EncoderThread::start(move || Ok(encoder), encode, failed)?;
        Ok(Encoding { thread, made, settings, is_model, earliest: Time::NEVER, waiting: None })
    }

    /// The encoder's settings, as it prints them.
    pub(super) fn settings(&self) -> &str {
        &self.settings
    }

    /// Asks for a picture at `now`. A model's frames are handed over at `done`, when an encoder would have made them.
    pub(super) fn encode(&mut self, now: Time, done: Time, picture: u64, plan: EncodePlan) {
        self.earliest = if self.is_model { done } else { now };
        self.thread.encode(picture, plan);
    }

    pub(super) fn commit(&self, choice: Option<usize>) {
        self.thread.commit(choice);
    }

    pub(super) fn forget(&self, frame: u64) {
        self.thread.forget(frame);
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
