//! Decides what to request: missing packets by gaps in their sequence numbers, and a keyframe when no frame was
//! decodable for too long.

use thalweg_units::{Span, Time};

use crate::keyframe_timeout::{KeyframeTimeout, Waiting};
use crate::missing::{self, MissingPackets};
use crate::wants::Wants;

/// Missing packets of one video, and the keyframe timeout.
#[derive(Debug)]
pub(crate) struct Gaps {
    missing: MissingPackets,
    timeout: KeyframeTimeout,
}

impl Default for Gaps {
    fn default() -> Gaps {
        Gaps { missing: MissingPackets::new(missing::Config::default()), timeout: KeyframeTimeout::default() }
    }
}

impl Gaps {
    /// Sets the round-trip time.
    pub(crate) fn learn(&mut self, round_trip: Span) {
        self.missing.learn(round_trip);
    }

    /// A fresh state with the same round-trip time.
    pub(crate) fn begin_anew(&self) -> Gaps {
        Gaps { missing: self.missing.begin_anew(), timeout: KeyframeTimeout::default() }
    }

    /// Media packet `sequence` arrived for the first time.
    pub(crate) fn on_media(&mut self, now: Time, sequence: u64) {
        if self.missing.on_media(now, sequence) {
            self.timeout.lose_track();
        }
    }

    /// Media packet `sequence` was recovered by a retransmission or FEC and need not be requested.
    pub(crate) fn on_repaired(&mut self, sequence: u64) {
        self.missing.on_retransmission(sequence);
    }

    /// Part of a frame arrived, by any means.
    pub(crate) fn on_part(&mut self, now: Time) {
        self.timeout.on_media(now);
    }

    /// A frame is ready.
    pub(crate) fn on_ready(&mut self, now: Time) {
        self.timeout.on_ready(now);
    }

    /// A keyframe is ready: it satisfies any pending need for one.
    pub(crate) fn on_keyframe(&mut self) {
        self.timeout.on_keyframe();
    }

    /// Only a keyframe can help.
    pub(crate) fn lose_track(&mut self) {
        self.timeout.lose_track();
    }

    /// Packets before `sequence` are no longer needed.
    pub(crate) fn clear_up_to(&mut self, sequence: u64) {
        self.missing.clear_up_to(sequence);
    }

    /// The requests that are due now; no keyframe request before `keyframe_from`.
    pub(crate) fn poll(&mut self, now: Time, waiting: Waiting, keyframe_from: Time) -> Wants {
        let packets = self.missing.poll(now);
        Wants { packets, keyframe: now >= keyframe_from && self.timeout.poll(now, waiting) }
    }

    /// When [`Gaps::poll`] should be called next.
    pub(crate) fn next_event(&self, waiting: Waiting, keyframe_from: Time) -> Time {
        self.missing.next_event().min(self.timeout.next_event(waiting).max(keyframe_from))
    }
}
