//! Media that a publisher is given in place of a camera and a microphone.

use std::sync::Arc;

use thalweg_sender::frames::EncodedFrame;
use thalweg_session::{AudioFrame, Encoded};
use thalweg_units::{Bytes, Size};
use thalweg_video::Picture;

use super::camera::Seen;
use crate::publish::messages::{Message, Outbox};

/// The input of a publisher that was started by [`Publisher::fed`](crate::publish::Publisher::fed). What is given is sent on at
/// once: its time is that of the call. From any thread; calls do not block.
#[derive(Clone)]
pub struct Inlet {
    outbox: Outbox,
    size: Size,
}

impl Inlet {
    pub(in crate::publish) fn new(outbox: Outbox, size: Size) -> Inlet {
        Inlet { outbox, size }
    }

    /// A picture to encode, of any size: each encoder scales it to its own.
    pub fn picture(&self, picture: Arc<Picture>) {
        self.outbox.send(Message::Given(Seen::Picture(picture)));
    }

    /// A frame of the codec that was named, which refers to the one before unless it is a keyframe. For H.264 an access
    /// unit (Annex B), keyframes with their parameter sets.
    pub fn frame(&self, data: Vec<u8>, keyframe: bool) {
        let size = Bytes::new(data.len() as u64);
        let frame = EncodedFrame::new(size, self.size).with(|frame| frame.keyframe = keyframe);
        self.outbox.send(Message::Given(Seen::Frame(Encoded { frame, data: data.into() })));
    }

    /// A packet of Opus. Its ticks never decrease.
    pub fn audio(&self, audio: AudioFrame) {
        self.outbox.send(Message::Audio(audio));
    }

    /// Sets who is asked when a viewer of encoded frames needs a keyframe: at most every 300 ms, and once a second while
    /// none comes. `ask` is called by the network thread and must not block.
    pub fn ask_for_keyframes(&self, ask: impl Fn() + Send + 'static) {
        self.outbox.send(Message::Upstream(Box::new(ask)));
    }
}
