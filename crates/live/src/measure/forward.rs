//! Where a sender's media goes besides being measured.

use std::sync::Arc;

use thalweg_receiver::rtp::{AudioPacket, VideoFrame};
use thalweg_units::{Span, Time};
use thalweg_video::Picture;

/// Takes what senders send. Pictures come from a thread of their own, the rest from the network thread; no call may block.
pub trait Forward: Send + Sync {
    /// A sender's media begins: what follows does not continue what was before.
    fn begins(&self);

    /// A frame came whole: a keyframe, or one that refers to those before it.
    fn frame(&self, frame: &VideoFrame);

    /// A frame was decoded. Not called where frames are not decoded.
    fn picture(&self, now: Time, picture: Arc<Picture>);

    /// An audio packet came. `skew` is how much later than the audio of the same instant the picture comes, if it is known
    /// ([`Incoming::skew`](thalweg_session::Incoming::skew)).
    fn audio(&self, packet: &AudioPacket, skew: Option<Span>);
}
