//! The encoder and its pictures, in their own thread.

use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, OnceLock};

use thalweg_codecs::{Candidate, EncodeError, Encoder, Image};
use thalweg_lab::simulate::SimulateError;
use thalweg_sender::frames::EncodePlan;
use thalweg_units::{Size, Span, Time};
use thalweg_video::footage::Footage;

use crate::RealTimeError;
use thalweg_emulate::reactor::Waker;
use thalweg_live::encoder::EncoderThread;

/// The candidates, and [`Encoder::delay`].
type Made = Result<(Vec<Candidate>, Span), SimulateError>;

/// The encoder; pictures are identified by their numbers.
pub(crate) struct Encoding {
    thread: EncoderThread<u64>,
    made: Receiver<Made>,
    settings: String,
    turned: Arc<OnceLock<Span>>,
    is_model: bool,
    /// The earliest time at which the requested frame may be handed over, even if it is ready before.
    earliest: Time,
    /// Encoded, but not yet handed over.
    waiting: Option<Vec<Candidate>>,
}

impl Encoding {
    /// Starts the thread; `waker` wakes the sender when a frame is ready. `footage` is `None` for an encoder model,
    /// which reads no pictures.
    pub(crate) fn start(
        encoder: Box<dyn Encoder>,
        mut footage: Option<Footage>,
        size: Size,
        waker: Waker,
    ) -> Result<Encoding, RealTimeError> {
        let (settings, is_model) = (encoder.settings(), footage.is_none());
        let (answer, made) = mpsc::channel();
        let turned = Arc::new(OnceLock::new());
        let turns = turned.clone();
        let (failing, wakes) = (answer.clone(), waker.clone());
        let encode = move |encoder: &mut dyn Encoder, picture: u64, plan: &EncodePlan| {
            // The run may be over.
            let _ = answer.send(encode(encoder, footage.as_mut(), size, picture, plan));
            waker.wake();
            // Reads the next picture ahead; an error is returned when it is encoded.
            if let Some(footage) = &mut footage {
                let _ = footage.picture(picture + 1);
                if let Some(span) = footage.turns_after() {
                    let _ = turns.set(span);
                }
            }
        };
        let failed = move |error: EncodeError| {
            let _ = failing.send(Err(error.into()));
            wakes.wake();
        };
        let thread = EncoderThread::start(move || Ok(encoder), encode, failed)?;
        Ok(Encoding { thread, made, settings, turned, is_model, earliest: Time::NEVER, waiting: None })
    }

    /// The encoder's settings, as it prints them.
    pub(crate) fn settings(&self) -> &str {
        &self.settings
    }

    /// The length of the clip, if it is played again and again.
    pub(crate) fn turns_after(&self) -> Option<Span> {
        self.turned.get().copied()
    }

    /// Requests a picture at `now`. A model's frames are handed over at `done`, when a real encoder would have
    /// finished.
    pub(crate) fn encode(&mut self, now: Time, done: Time, picture: u64, plan: EncodePlan) {
        self.earliest = if self.is_model { done } else { now };
        self.thread.encode(picture, plan);
    }

    pub(crate) fn commit(&self, choice: Option<usize>) {
        self.thread.commit(choice);
    }

    pub(crate) fn forget(&self, frame: u64) {
        self.thread.forget(frame);
    }

    /// When [`Encoding::take`] will have a result, as far as is known.
    pub(crate) fn next_event(&self) -> Time {
        if self.waiting.is_some() { self.earliest } else { Time::NEVER }
    }

    /// The encoded candidates, once they are due.
    pub(crate) fn take(&mut self, now: Time) -> Result<Option<Vec<Candidate>>, RealTimeError> {
        if let Ok(made) = self.made.try_recv() {
            let (candidates, delay) = made?;
            self.waiting = Some(candidates);
            self.earliest += delay;
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
    let Some(footage) = footage else {
        let candidates = encoder.offer(Image::blank(size), plan)?;
        return Ok((candidates, encoder.delay()));
    };
    let picture = footage
        .picture(number)?
        .ok_or_else(|| SimulateError::Scenario(format!("the video ends at picture {number}, before the run does")))?;
    Ok((encoder.candidates(&picture, plan)?, Span::ZERO))
}
