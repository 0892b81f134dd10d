//! The other end: packets in, frames and reports out.

mod assembly;
mod missing;
mod reports;

use thalweg_sender::{Content, FeedbackStyle, Fragment, Packet};
use thalweg_units::{Span, Time};

pub use assembly::{Assembly, FrameInfo};
use missing::MissingPackets;
pub use reports::{Report, Reports};

/// A keyframe is asked for when nothing could be decoded for this long while waiting for one (libwebrtc
/// `kMaxWaitForKeyFrame`) ...
const KEYFRAME_PATIENCE: Span = Span::from_millis(200);
/// ... and otherwise for this long although packets come (`kMaxWaitForFrame`).
const FRAME_PATIENCE: Span = Span::from_secs(3);

/// What the receiver tells the sender beside reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// These media packets are missing.
    Repeat(Vec<u64>),
    /// A keyframe is needed.
    Keyframe,
}

/// A receiver of one video.
#[derive(Debug)]
pub struct Receiver {
    reports: Reports,
    missing: MissingPackets,
    assembly: Assembly,
    /// When a frame was last ready, or the wait for one began.
    waiting_since: Time,
    last_media: Option<Time>,
    requests: Vec<Request>,
}

impl Receiver {
    /// A receiver that reports in this style, with a clock this far ahead of the sender's.
    pub fn new(style: FeedbackStyle, clock_offset: Span) -> Receiver {
        Receiver {
            reports: Reports::new(style, clock_offset),
            missing: MissingPackets::default(),
            assembly: Assembly::default(),
            waiting_since: Time::ZERO,
            last_media: None,
            requests: Vec::new(),
        }
    }

    /// A packet arrived; the frames that can be decoded now, in order.
    pub fn on_packet(&mut self, now: Time, packet: &Packet) -> Vec<FrameInfo> {
        self.reports.on_packet(now, &packet.sent);
        let fragment = match packet.content {
            Content::Padding => return Vec::new(),
            Content::Media { sequence, fragment } => {
                self.missing.on_media(now, sequence);
                fragment
            }
            Content::Retransmission { of, fragment } => {
                self.missing.on_repeat(of);
                fragment
            }
        };
        self.take(now, fragment)
    }

    fn take(&mut self, now: Time, fragment: Fragment) -> Vec<FrameInfo> {
        if self.last_media.replace(now).is_none() {
            self.waiting_since = now;
        }
        let ready = self.assembly.on_fragment(now, fragment);
        if !ready.is_empty() {
            self.waiting_since = now;
        }
        ready
    }

    /// The next report that is due, if any.
    pub fn poll_report(&mut self, now: Time) -> Option<Report> {
        self.reports.poll(now)
    }

    /// What else to tell the sender now.
    pub fn poll_requests(&mut self, now: Time) -> Vec<Request> {
        let wanted = self.missing.poll(now);
        if !wanted.is_empty() {
            self.requests.push(Request::Repeat(wanted));
        }
        if now >= self.keyframe_due() {
            self.waiting_since = now;
            self.requests.push(Request::Keyframe);
        }
        std::mem::take(&mut self.requests)
    }

    /// Frames given up since the last call.
    pub fn poll_abandoned(&mut self) -> Option<u64> {
        self.assembly.poll_abandoned()
    }

    fn keyframe_due(&self) -> Time {
        // Only a stream that still comes can be asked for one.
        let Some(last) = self.last_media else { return Time::NEVER };
        let patience = if self.assembly.needs_keyframe() { KEYFRAME_PATIENCE } else { FRAME_PATIENCE };
        let due = self.waiting_since + patience;
        if last >= self.waiting_since && self.assembly.waits() { due } else { Time::NEVER }
    }

    /// When [`Receiver::poll_report`] or [`Receiver::poll_requests`] has something to do.
    pub fn next_event(&self) -> Time {
        self.reports.next_event().min(self.missing.next_event()).min(self.keyframe_due())
    }
}
