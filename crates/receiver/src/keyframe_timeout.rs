//! When a receiver asks for a keyframe because nothing came out for too long (libwebrtc `video_receive_stream2.cc`).

use thalweg_units::{Span, Time};

/// A keyframe is asked for when nothing could be decoded for this long while waiting for one (libwebrtc
/// `kMaxWaitForKeyFrame`) ...
pub(super) const FOR_KEYFRAME: Span = Span::from_millis(200);
/// ... and otherwise for this long although packets come (`kMaxWaitForFrame`).
const FOR_FRAME: Span = Span::from_secs(3);

/// What a receiver is waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    /// Nothing it knows of.
    Nothing,
    /// Something that has begun to come.
    Frame,
    /// A keyframe: nothing else helps.
    Keyframe,
}

/// How long nothing has come out.
#[derive(Debug, Default)]
pub(super) struct KeyframeTimeout {
    /// When a frame was last ready, or the wait for one began.
    since: Time,
    last_media: Option<Time>,
    /// A keyframe is needed at once.
    lost_track: bool,
}

impl KeyframeTimeout {
    /// A media packet came, by itself or out of others.
    pub(super) fn on_media(&mut self, now: Time) {
        if self.last_media.replace(now).is_none() {
            self.since = now;
        }
    }

    /// A frame is ready.
    pub(super) fn on_ready(&mut self, now: Time) {
        self.since = now;
    }

    /// A keyframe is ready: whatever one was needed for is over.
    pub(super) fn on_keyframe(&mut self) {
        self.lost_track = false;
    }

    /// Only a keyframe can help.
    pub(super) fn lose_track(&mut self) {
        self.lost_track = true;
    }

    /// Whether to ask for a keyframe now.
    pub(super) fn poll(&mut self, now: Time, waiting: Waiting) -> bool {
        if now >= self.due(waiting) {
            self.since = now;
            self.lost_track = true;
        }
        std::mem::take(&mut self.lost_track)
    }

    fn due(&self, waiting: Waiting) -> Time {
        // Only a stream that still comes can be asked for one.
        let still_comes = self.last_media.is_some_and(|last| last >= self.since);
        match waiting {
            _ if !still_comes => Time::NEVER,
            Waiting::Nothing => Time::NEVER,
            Waiting::Frame => self.since + FOR_FRAME,
            Waiting::Keyframe => self.since + FOR_KEYFRAME,
        }
    }

    /// When [`KeyframeTimeout::poll`] has something to say.
    pub(super) fn next_event(&self, waiting: Waiting) -> Time {
        if self.lost_track { Time::ZERO } else { self.due(waiting) }
    }
}
