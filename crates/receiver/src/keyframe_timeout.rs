//! When a receiver requests a keyframe because no frame was decodable for too long (libwebrtc
//! `video_receive_stream2.cc`).

use thalweg_units::{Span, Time};

/// While waiting for a keyframe, one is requested when nothing could be decoded for this long (libwebrtc
/// `kMaxWaitForKeyFrame`).
pub(super) const FOR_KEYFRAME: Span = Span::from_millis(200);
/// Otherwise, a keyframe is requested when nothing could be decoded for this long although packets arrive
/// (`kMaxWaitForFrame`).
const FOR_FRAME: Span = Span::from_secs(3);

/// The event that a receiver waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    /// Nothing in particular.
    Nothing,
    /// The rest of a frame of which some packets arrived.
    Frame,
    /// A keyframe: no other frame is decodable.
    Keyframe,
}

/// Measures the time since the last decodable frame.
#[derive(Debug, Default)]
pub(super) struct KeyframeTimeout {
    /// When a frame was last ready, or when the wait for one began.
    since: Time,
    last_media: Option<Time>,
    /// A keyframe is needed immediately.
    lost_track: bool,
}

impl KeyframeTimeout {
    /// A media packet arrived, directly or by recovery.
    pub(super) fn on_media(&mut self, now: Time) {
        if self.last_media.replace(now).is_none() {
            self.since = now;
        }
    }

    /// A frame is ready.
    pub(super) fn on_ready(&mut self, now: Time) {
        self.since = now;
    }

    /// A keyframe is ready: it satisfies any pending need for one.
    pub(super) fn on_keyframe(&mut self) {
        self.lost_track = false;
    }

    /// Only a keyframe can help.
    pub(super) fn lose_track(&mut self) {
        self.lost_track = true;
    }

    /// Returns true if a keyframe should be requested now.
    pub(super) fn poll(&mut self, now: Time, waiting: Waiting) -> bool {
        if now >= self.due(waiting) {
            self.since = now;
            self.lost_track = true;
        }
        std::mem::take(&mut self.lost_track)
    }

    fn due(&self, waiting: Waiting) -> Time {
        // Only request a keyframe from a stream that is still being received.
        let still_comes = self.last_media.is_some_and(|last| last >= self.since);
        match waiting {
            _ if !still_comes => Time::NEVER,
            Waiting::Nothing => Time::NEVER,
            Waiting::Frame => self.since + FOR_FRAME,
            Waiting::Keyframe => self.since + FOR_KEYFRAME,
        }
    }

    /// When [`KeyframeTimeout::poll`] should be called next.
    pub(super) fn next_event(&self, waiting: Waiting) -> Time {
        if self.lost_track { Time::ZERO } else { self.due(waiting) }
    }
}
