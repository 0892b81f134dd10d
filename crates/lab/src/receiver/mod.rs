//! The other end: packets in, frames and reports out.

mod assembly;
mod datagram;
mod missing;
mod reports;
mod request;

use thalweg_sender::{Content, FeedbackStyle, Fragment, Packet};
use thalweg_units::{Span, Time};

pub use assembly::{Assembly, FrameInfo};
use datagram::Ear;
use missing::MissingPackets;
pub use reports::Report;
use reports::{Message, Reports};
pub use request::Request;

/// A keyframe is asked for when nothing could be decoded for this long while waiting for one (libwebrtc
/// `kMaxWaitForKeyFrame`) ...
const KEYFRAME_PATIENCE: Span = Span::from_millis(200);
/// ... and otherwise for this long although packets come (`kMaxWaitForFrame`).
const FRAME_PATIENCE: Span = Span::from_secs(3);

/// A receiver of one video.
#[derive(Debug)]
pub struct Receiver {
    reports: Reports,
    missing: MissingPackets,
    assembly: Assembly,
    /// When a frame was last ready, or the wait for one began.
    waiting_since: Time,
    last_media: Option<Time>,
    /// A keyframe is needed at once.
    lost_track: bool,
    ear: Ear,
}

impl Receiver {
    /// A receiver that reports in this style, with a clock this far ahead of the sender's.
    pub fn new(style: FeedbackStyle, clock_offset: Span) -> Receiver {
        Receiver {
            reports: Reports::new(style, clock_offset),
            missing: MissingPackets::new(missing::Config::default()),
            assembly: Assembly::default(),
            waiting_since: Time::ZERO,
            last_media: None,
            lost_track: false,
            ear: Ear::default(),
        }
    }

    /// A packet arrived; the frames that can be decoded now, in order.
    pub fn on_packet(&mut self, now: Time, packet: &Packet) -> Vec<FrameInfo> {
        self.reports.on_packet(now, &packet.sent);
        self.ear.on_packet(packet);
        let (sequence, fragment) = match packet.content {
            Content::Padding => return Vec::new(),
            Content::Media { sequence, fragment } => {
                self.lost_track |= self.missing.on_media(now, sequence);
                (sequence, fragment)
            }
            Content::Retransmission { of, fragment } => {
                self.missing.on_repeat(of);
                (of, fragment)
            }
        };
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

    /// The next report that is due, if any, as the sender will read it.
    pub fn poll_report(&mut self, now: Time) -> Option<Report> {
        match self.reports.poll(now)? {
            Message::Told(acknowledgements) => Some(Report::told(acknowledgements)),
            Message::Datagram(bytes) => {
                let size = datagram::wire_size(&bytes);
                self.ear.hear(&bytes).into_iter().find_map(|news| Report::heard(news, size))
            }
        }
    }

    /// What else to tell the sender now, as the sender will read it.
    pub fn poll_requests(&mut self, now: Time) -> Vec<Request> {
        let mut requests: Vec<Request> = Request::repeats(&self.missing.poll(now)).collect();
        if now >= self.keyframe_due() {
            self.waiting_since = now;
            self.lost_track = true;
        }
        if std::mem::take(&mut self.lost_track) {
            requests.push(Request::Keyframe);
        }
        requests.iter().flat_map(|request| self.ear.hear(&request.datagram())).filter_map(Request::heard).collect()
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
        if self.lost_track {
            return Time::ZERO;
        }
        self.reports.next_event().min(self.missing.next_event()).min(self.keyframe_due())
    }
}

#[cfg(test)]
mod tests;
