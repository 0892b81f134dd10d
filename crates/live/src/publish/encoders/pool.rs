//! The encoders that viewers share, and their threads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use thalweg_session::Encoded;
use thalweg_units::{Rate, Size, Span, Time};
use thalweg_video::Picture;

use super::coder::Encoding;
use super::rung::{Job, Rung, layers};
use crate::encoder::EncoderThread;
use crate::publish::messages::{Key, Message, Outbox, RungId};
use crate::publish::sources::camera::{Seen, Taken};

/// A shared encoder.
struct Running {
    rung: Rung,
    thread: EncoderThread<Option<Arc<Picture>>>,
}

/// The shared encoders.
#[derive(Default)]
pub(crate) struct Pool {
    all: BTreeMap<RungId, Running>,
}

impl Pool {
    pub(crate) fn get(&self, id: RungId) -> Option<&Rung> {
        self.all.get(&id).map(|encoder| &encoder.rung)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (RungId, &Rung)> {
        self.all.iter().map(|(id, encoder)| (*id, &encoder.rung))
    }

    /// Sets a rung's rate, and starts its encoder if there is none yet.
    pub(crate) fn set(
        &mut self,
        id: RungId,
        (rate, interval): (Rate, Span),
        encoding: &Encoding,
        outbox: &Outbox,
    ) -> Result<(), String> {
        if let Some(encoder) = self.all.get_mut(&id) {
            encoder.rung.rate = rate;
            return Ok(());
        }
        let Some(codec) = encoding.codec.clone() else { return Ok(()) };
        let rung = Rung::new(layers(&codec), encoding.size, rate, interval).map_err(|error| error.to_string())?;
        let outbox = outbox.clone();
        let thread = encoding.thread(codec, move |made| outbox.send(Message::Shared { rung: id, made }))?;
        self.all.insert(id, Running { rung, thread });
        Ok(())
    }

    /// A picture was taken.
    pub(crate) fn on_picture(&mut self, now: Time, taken: &Taken) {
        for Running { rung, thread } in self.all.values_mut() {
            rung.on_picture(now, taken).into_iter().for_each(|job| encode(thread, job));
        }
    }

    /// An encoder made frames.
    pub(crate) fn on_made(&mut self, now: Time, id: RungId, made: Vec<Encoded>) {
        let Some(Running { rung, thread }) = self.all.get_mut(&id) else { return };
        let made = made.into_iter().next();
        if made.is_some() {
            thread.commit(Some(0));
        }
        rung.on_made(now, made).into_iter().for_each(|job| encode(thread, job));
    }

    /// Sets the size of a rung's pictures.
    pub(crate) fn set_size(&mut self, id: RungId, size: Size) {
        self.all.entry(id).and_modify(|encoder| encoder.rung.size = size);
    }

    /// Ends all encoders but these.
    pub(crate) fn keep(&mut self, ids: &BTreeSet<RungId>) {
        self.all.retain(|id, _| ids.contains(id));
    }

    /// Ends an encoder.
    pub(crate) fn remove(&mut self, id: RungId) {
        self.all.remove(&id);
    }

    /// A viewer needs a keyframe.
    pub(crate) fn ask_for_keyframe(&mut self, now: Time, id: RungId, viewer: Key) {
        self.all.entry(id).and_modify(|encoder| encoder.rung.ask_for_keyframe(now, viewer));
    }
}

fn encode(thread: &EncoderThread<Option<Arc<Picture>>>, Job { taken, plan }: Job) {
    let picture = match taken.seen {
        Seen::Picture(picture) => Some(picture),
        Seen::Nothing | Seen::Frame(_) => None,
    };
    thread.encode(picture, plan);
}
