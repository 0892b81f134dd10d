//! What to ask for when something is missing: packets by the gaps in their numbers, and a keyframe when nothing comes out for too long.

use thalweg_units::{Span, Time};

use crate::keyframe_timeout::{KeyframeTimeout, Waiting};
use crate::missing::{self, MissingPackets};
use crate::wants::Wants;

/// The gaps of one video, and how long nothing came out.
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
    /// The round trip is known.
    pub(crate) fn learn(&mut self, round_trip: Span) {
        self.missing.learn(round_trip);
    }

    /// As before anything came, with the same round trip.
    pub(crate) fn begin_anew(&self) -> Gaps {
        Gaps { missing: self.missing.begin_anew(), timeout: KeyframeTimeout::default() }
    }

    /// Media packet `sequence` came for the first time.
    pub(crate) fn on_media(&mut self, now: Time, sequence: u64) {
        if self.missing.on_media(now, sequence) {
            self.timeout.lose_track();
        }
    }

    /// Media packet `sequence` is here by a retransmission or by FEC, and need not be asked for.
    pub(crate) fn on_repaired(&mut self, sequence: u64) {
        self.missing.on_retransmission(sequence);
    }

    /// Part of a frame is here, by whichever way.
    pub(crate) fn on_part(&mut self, now: Time) {
        self.timeout.on_media(now);
    }

    /// A frame is ready.
    pub(crate) fn on_ready(&mut self, now: Time) {
        self.timeout.on_ready(now);
    }

    /// A keyframe is ready: whatever one was needed for is over.
    pub(crate) fn on_keyframe(&mut self) {
        self.timeout.on_keyframe();
    }

    /// Only a keyframe can help.
    pub(crate) fn lose_track(&mut self) {
        self.timeout.lose_track();
    }

    /// No packet before `sequence` is needed any more.
    pub(crate) fn clear_up_to(&mut self, sequence: u64) {
        self.missing.clear_up_to(sequence);
    }

    /// What to ask for now; for no keyframe before `keyframe_from`.
    pub(crate) fn poll(&mut self, now: Time, waiting: Waiting, keyframe_from: Time) -> Wants {
        let packets = self.missing.poll(now);
        Wants { packets, keyframe: now >= keyframe_from && self.timeout.poll(now, waiting) }
    }

    /// When [`Gaps::poll`] has something to say.
    pub(crate) fn next_event(&self, waiting: Waiting, keyframe_from: Time) -> Time {
        self.missing.next_event().min(self.timeout.next_event(waiting).max(keyframe_from))
    }
}
