//! A standard receiver: it decodes complete frames whose references it has, requests missing packets, and requests a
//! keyframe when nothing else helps.

use thalweg_types::{Content, Fragment, Packet};
use thalweg_units::{Span, Time};

use super::assembly::{Assembly, FrameInfo};
use super::gaps::Gaps;
use super::keyframe_timeout::Waiting;
use super::wants::Wants;

/// Frames, and their missing packets.
#[derive(Debug, Default)]
pub(super) struct Standard {
    gaps: Gaps,
    assembly: Assembly,
}

impl Standard {
    /// Sets whether each frame is taken to need the one before it.
    pub(super) fn in_order(&mut self, in_order: bool) {
        self.assembly.in_order = in_order;
    }

    /// Sets the round-trip time.
    pub(super) fn learn(&mut self, round_trip: Span) {
        self.gaps.learn(round_trip);
    }

    /// A packet arrived; returns the frames that can be decoded now, in order.
    pub(super) fn on_packet(&mut self, now: Time, packet: &Packet) -> Vec<FrameInfo> {
        let (sequence, fragment) = match packet.content {
            Content::Padding | Content::Audio { .. } | Content::Fec { .. } => return Vec::new(),
            Content::Media { sequence, fragment } => {
                self.gaps.on_media(now, sequence);
                (sequence, fragment)
            }
            Content::Retransmission { of, fragment } => {
                self.gaps.on_repaired(of);
                (of, fragment)
            }
        };
        self.on_fragment(now, sequence, fragment)
    }

    /// Media packet `sequence` was recovered by FEC and need not be requested.
    pub(super) fn on_recovered(&mut self, now: Time, sequence: u64, fragment: Fragment) -> Vec<FrameInfo> {
        self.gaps.on_repaired(sequence);
        self.on_fragment(now, sequence, fragment)
    }

    fn on_fragment(&mut self, now: Time, sequence: u64, fragment: Fragment) -> Vec<FrameInfo> {
        let ready = self.take(now, fragment);
        if !ready.is_empty() {
            // Neither the frame this fragment completes nor the frames that waited for it need any packet before its
            // last.
            self.gaps.clear_up_to(sequence + u64::from(fragment.count.saturating_sub(fragment.index + 1)));
        }
        ready
    }

    fn take(&mut self, now: Time, fragment: Fragment) -> Vec<FrameInfo> {
        self.gaps.on_part(now);
        let ready = self.assembly.on_fragment(fragment);
        if !ready.is_empty() {
            self.gaps.on_ready(now);
        }
        ready
    }

    /// The requests to send now.
    pub(super) fn poll(&mut self, now: Time) -> Wants {
        self.gaps.poll(now, self.waiting(), Time::ZERO)
    }

    /// The next frame abandoned since the last call.
    pub(super) fn poll_abandoned(&mut self) -> Option<u64> {
        self.assembly.poll_abandoned()
    }

    fn waiting(&self) -> Waiting {
        match (self.assembly.waits(), self.assembly.needs_keyframe()) {
            (false, _) => Waiting::Nothing,
            (true, true) => Waiting::Keyframe,
            (true, false) => Waiting::Frame,
        }
    }

    /// When [`Standard::poll`] should be called next.
    pub(super) fn next_event(&self) -> Time {
        self.gaps.next_event(self.waiting(), Time::ZERO)
    }
}
