//! An ordinary receiver: it decodes what is whole and refers to what it has, asks for packets that are missing, and for
//! a keyframe when nothing else helps.

use thalweg_media::{Content, Fragment, Packet};
use thalweg_units::{Span, Time};

use super::assembly::{Assembly, FrameInfo};
use super::missing::{self, MissingPackets};
use super::patience::{Patience, Waiting};
use super::wants::Wants;

/// Frames, and what is missing of them.
#[derive(Debug)]
pub(super) struct Ordinary {
    missing: MissingPackets,
    assembly: Assembly,
    patience: Patience,
}

impl Ordinary {
    pub(super) fn new() -> Ordinary {
        Ordinary {
            missing: MissingPackets::new(missing::Config::default()),
            assembly: Assembly::default(),
            patience: Patience::default(),
        }
    }

    /// The round trip is known.
    pub(super) fn learn(&mut self, round_trip: Span) {
        self.missing.learn(round_trip);
    }

    /// A packet arrived; the frames that can be decoded now, in order.
    pub(super) fn on_packet(&mut self, now: Time, packet: &Packet) -> Vec<FrameInfo> {
        let (sequence, fragment) = match packet.content {
            Content::Padding | Content::Audio { .. } | Content::Parity { .. } => return Vec::new(),
            Content::Media { sequence, fragment } => {
                if self.missing.on_media(now, sequence) {
                    self.patience.lose_track();
                }
                (sequence, fragment)
            }
            Content::Retransmission { of, fragment } => {
                self.missing.on_repeat(of);
                (of, fragment)
            }
        };
        self.on_fragment(now, sequence, fragment)
    }

    /// Media packet `sequence` was made of parity: it is here, and need not be asked for.
    pub(super) fn on_recovered(&mut self, now: Time, sequence: u64, fragment: Fragment) -> Vec<FrameInfo> {
        self.missing.on_repeat(sequence);
        self.on_fragment(now, sequence, fragment)
    }

    fn on_fragment(&mut self, now: Time, sequence: u64, fragment: Fragment) -> Vec<FrameInfo> {
        let ready = self.take(now, fragment);
        if !ready.is_empty() {
            // The frame this fragment completes needs no packet before its last, nor do those that waited for it.
            self.missing.clear_up_to(sequence + u64::from(fragment.count.saturating_sub(fragment.index + 1)));
        }
        ready
    }

    fn take(&mut self, now: Time, fragment: Fragment) -> Vec<FrameInfo> {
        self.patience.on_media(now);
        let ready = self.assembly.on_fragment(fragment);
        if !ready.is_empty() {
            self.patience.on_ready(now);
        }
        ready
    }

    /// What to ask the sender for now.
    pub(super) fn poll(&mut self, now: Time) -> Wants {
        Wants { packets: self.missing.poll(now), keyframe: self.patience.poll(now, self.waiting()) }
    }

    /// Frames given up since the last call.
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

    /// When [`Ordinary::poll`] has something to do.
    pub(super) fn next_event(&self) -> Time {
        self.missing.next_event().min(self.patience.next_event(self.waiting()))
    }
}
