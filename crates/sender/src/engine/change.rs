//! Changing the scheme during a call.

use thalweg_control::PacketId;
use thalweg_units::{ConfigError, Rate, Time};

use super::Engine;
use super::assembled::Assembled;
use crate::event::{Event, Timed, Why};
use crate::parts::Parts;
use crate::scheme::SenderFactory;

impl Engine {
    /// Changes to another scheme. Packet numbers continue, packets in flight stay in flight, and the round trip stays
    /// known. The queue is thrown away and the next frame is a keyframe, because another scheme may use another
    /// encoder. The new controller begins as at the start of a call and gets feedback only on packets sent under it.
    ///
    /// # Errors
    /// When a parameter of the scheme is out of range; then nothing has changed.
    pub fn change_scheme(&mut self, now: Time, scheme: &dyn SenderFactory) -> Result<(), ConfigError> {
        self.change_parts(now, scheme.parts(self.camera.size)?)
    }

    /// The same with parts of the caller's own.
    ///
    /// # Errors
    /// When a parameter of a part is out of range; then nothing has changed.
    pub fn change_parts(&mut self, now: Time, parts: Parts) -> Result<(), ConfigError> {
        let loss_detection = parts.loss_detection;
        let parts = Assembled::new(parts, PacketId(self.next_id), now)?;
        self.input(now, |engine| {
            engine.parts.queue.flush(|frame, packets| {
                engine.events.push(Timed { at: now, event: Event::FrameFlushed { frame, packets } });
            });
            if let Some(encoding) = &mut engine.encoding {
                encoding.abandoned = true;
            }
            engine.discard_slot(Why::SchemeChanged);
            engine.parts = parts;
            engine.ceiling.told.into_iter().flatten().for_each(|limit| engine.signal(limit));
            engine.hold();
            if engine.ceiling.rate() < Rate::MAX {
                engine.tell_demand();
            }
            engine.history.set_config(loss_detection);
            engine.emit(Event::SchemeChanged);
            engine.force_keyframe(Why::SchemeChanged);
            engine.changed.controller = true;
        });
        Ok(())
    }
}
