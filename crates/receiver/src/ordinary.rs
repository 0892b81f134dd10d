//! An ordinary receiver: it decodes what is whole and refers to what it has, asks for packets that are missing, and for
//! a keyframe when nothing else helps.

use thalweg_sender::{Content, Fragment, Packet};
use thalweg_units::{Span, Time};

use super::assembly::{Assembly, FrameInfo};
use super::missing::{self, MissingPackets};
use super::request::Request;

/// A keyframe is asked for when nothing could be decoded for this long while waiting for one (libwebrtc
/// `kMaxWaitForKeyFrame`) ...
const KEYFRAME_PATIENCE: Span = Span::from_millis(200);
/// ... and otherwise for this long although packets come (`kMaxWaitForFrame`).
const FRAME_PATIENCE: Span = Span::from_secs(3);

/// Frames, and what is missing of them.
#[derive(Debug)]
pub(super) struct Ordinary {
    missing: MissingPackets,
    assembly: Assembly,
    /// When a frame was last ready, or the wait for one began.
    waiting_since: Time,
    last_media: Option<Time>,
    /// A keyframe is needed at once.
    lost_track: bool,
}

impl Ordinary {
    pub(super) fn new() -> Ordinary {
        Ordinary {
            missing: MissingPackets::new(missing::Config::default()),
            assembly: Assembly::default(),
            waiting_since: Time::ZERO,
            last_media: None,
            lost_track: false,
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
                self.lost_track |= self.missing.on_media(now, sequence);
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
        if self.last_media.replace(now).is_none() {
            self.waiting_since = now;
        }
        let ready = self.assembly.on_fragment(fragment);
        if !ready.is_empty() {
            self.waiting_since = now;
        }
        ready
    }

    /// What to ask the sender for now.
    pub(super) fn poll_requests(&mut self, now: Time) -> Vec<Request> {
        let mut requests: Vec<Request> = Request::repeats(&self.missing.poll(now)).collect();
        if now >= self.keyframe_due() {
            self.waiting_since = now;
            self.lost_track = true;
        }
        if std::mem::take(&mut self.lost_track) {
            requests.push(Request::Keyframe);
        }
        requests
    }

    /// Frames given up since the last call.
    pub(super) fn poll_abandoned(&mut self) -> Option<u64> {
        self.assembly.poll_abandoned()
    }

    fn keyframe_due(&self) -> Time {
        // Only a stream that still comes can be asked for one.
        let Some(last) = self.last_media else { return Time::NEVER };
        let patience = if self.assembly.needs_keyframe() { KEYFRAME_PATIENCE } else { FRAME_PATIENCE };
        let due = self.waiting_since + patience;
        if last >= self.waiting_since && self.assembly.waits() { due } else { Time::NEVER }
    }

    /// When [`Ordinary::poll_requests`] has something to do.
    pub(super) fn next_event(&self) -> Time {
        if self.lost_track { Time::ZERO } else { self.missing.next_event().min(self.keyframe_due()) }
    }
}
