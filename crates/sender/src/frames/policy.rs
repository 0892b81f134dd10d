//! The interface for deciding which pictures become frames.

use thalweg_control::{Demand, Feedback, PacketId, SendLimits};
use thalweg_types::feedback::DecoderReport;
use thalweg_types::{EncodePlan, EncodedFrame};
use thalweg_units::{Bytes, Rate, Size, Span, Time};

use crate::event::Why;

/// Decides for each picture whether and how to encode it, and for the queue whether it is still worth sending.
///
/// One method is required, and [`super::EveryFrame`] implements no other. A policy that chooses among candidates
/// (Salsify) or bounds the queue's age (Vidaptive) overrides the rest.
pub trait FramePolicy: Send {
    /// A picture waits: encode it, hold it until the queue is empty, or skip it.
    fn plan(&mut self, view: &View) -> FramePlan;

    /// The rates the encoder can be asked for, if the policy steers it by a rate within bounds.
    fn demand(&self) -> Option<Demand> {
        None
    }

    /// Returns true if the policy needs a functional codec, which encodes several candidates of a picture and can go
    /// back to an earlier state.
    fn wants_candidates(&self) -> bool {
        false
    }

    /// Returns true if the policy asks for frames by quantisers ([`Target::Quantizer`](thalweg_types::Target)), and so for
    /// no rate or size that an encoder could stay below.
    fn asks_for_quantizers(&self) -> bool {
        false
    }

    /// The number of temporal layers, at least 1.
    fn layers(&self) -> u8 {
        1
    }

    /// Returns true if a frame may refer to others than the one before it, so that a receiver must be told which.
    fn names_references(&self) -> bool {
        self.layers() > 1
    }

    /// The receiver cannot be told what frames refer to, takes each to need the one before it, and gets what it requests
    /// retransmitted: from now on each frame does refer to the one before it, if the policy has that choice. Called before
    /// the first picture.
    fn refer_to_the_last(&mut self) {}

    /// The receiver is told what frames refer to, and may leave out one that a later one, which does not need it, overtakes
    /// on its way to the decoder, as libwebrtc does (`frame_decode_timing.cc`): no frame is to refer to such a one. Called
    /// before the first picture.
    fn expect_overtaking(&mut self) {}

    /// Duration of the group that begins with the waiting picture, if it is planned as a whole. The controller is
    /// notified first ([`thalweg_control::Signal::Period`]), and [`FramePolicy::plan`] sees what it then allows.
    fn begins_period(&self, view: &View) -> Option<Span> {
        let _ = view;
        None
    }

    /// The candidates are encoded: which of them to send, if any. Called as late as possible, so `view` may have
    /// changed.
    fn choose(&mut self, view: &View, candidates: &[EncodedFrame]) -> Option<usize> {
        let _ = view;
        (!candidates.is_empty()).then_some(0)
    }

    /// The encoder made a frame, and it was queued as `frame` in this many packets.
    fn on_queued(&mut self, now: Time, frame: u64, encoded: &EncodedFrame, packets: u16) {
        let _ = (now, frame, encoded, packets);
    }

    /// A frame's last packet left the pacer.
    fn on_frame_sent(&mut self, sent: &FrameSent) {
        let _ = sent;
    }

    /// A packet left that may stand for another.
    fn on_repair_sent(&mut self, sent: &RepairSent) {
        let _ = sent;
    }

    /// Feedback on sent packets arrived.
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let _ = feedback;
    }

    /// The receiver reported its decoder's state.
    fn on_decoder(&mut self, now: Time, report: &DecoderReport) {
        let _ = (now, report);
    }

    /// The queue was thrown away. Returns whether the policy's next frame can be decoded without it; if not, it must be
    /// a keyframe.
    fn on_flushed(&mut self, now: Time) -> bool {
        let _ = now;
        false
    }

    /// Returns true if, after a loss, frames refer only to what the receiver acknowledged.
    fn is_recovering(&self, now: Time) -> bool {
        let _ = now;
        false
    }

    /// The next frame whose kept state ([`EncodePlan::keep`]) no later plan will name.
    fn poll_forgotten(&mut self) -> Option<u64> {
        None
    }

    /// The queue changed, or time passed: what to do with the packets in it.
    fn on_queue(&mut self, now: Time, queue: &QueueView) -> QueueVerdict {
        let _ = (now, queue);
        QueueVerdict::Keep
    }

    /// When to call [`FramePolicy::on_queue`] again if nothing happens before.
    fn next_timeout(&self, queue: &QueueView) -> Time {
        let _ = queue;
        Time::NEVER
    }

    /// Passes the variables worth charting to `see`.
    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        let _ = see;
    }
}

/// Why the policy is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// The camera delivered a picture.
    CameraRead,
    /// A held picture may now go: the queue has become empty.
    QueueEmpty,
    /// A picture arrived while the encoder was busy, and the encoder is free now.
    EncoderFree,
}

/// View of a policy when a picture waits. The engine makes it; a test uses [`View::new`] and sets the fields it tests.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct View {
    /// The time.
    pub now: Time,
    /// Why the policy is asked.
    pub occasion: Occasion,
    /// Limits of the controller.
    pub limits: SendLimits,
    /// The pacer's rate: CC-Rate in a Vidaptive scheme.
    pub pacing: Rate,
    /// Smoothed round-trip time; 100 ms before the first sample (specs/vidaptive.md C3).
    pub srtt: Span,
    /// Bytes in flight.
    pub in_flight: Bytes,
    /// The media queue.
    pub queue: QueueView,
    /// The age of the waiting picture.
    pub picture_age: Span,
    /// The time between the camera's pictures.
    pub interval: Span,
    /// The camera's size.
    pub source: Size,
    /// The number the next encoded frame will have.
    pub next_frame: u64,
    /// The share of the wire bytes sent, padding excluded, that is payload of first-time media; 1 when nothing was
    /// sent.
    pub payload_share: f64,
    /// The share of the same bytes that repairs losses: FEC and retransmissions.
    pub repair_share: f64,
    /// True if the receiver requested a keyframe or the encoder needs one: the next frame is a keyframe whatever the
    /// plan.
    pub keyframe_due: bool,
}

impl View {
    /// A picture of a camera of this size and interval has just been read; nothing is queued and nothing was sent yet.
    pub fn new(now: Time, limits: SendLimits, source: Size, interval: Span) -> View {
        View {
            now,
            occasion: Occasion::CameraRead,
            limits,
            pacing: limits.pacing,
            srtt: Span::from_millis(100),
            in_flight: Bytes::ZERO,
            queue: QueueView::default(),
            picture_age: Span::ZERO,
            interval,
            source,
            next_frame: 0,
            payload_share: 1.0,
            repair_share: 0.0,
            keyframe_due: false,
        }
    }

    /// How large a frame may be: the controller's limit for a frame or, with a controller that has a window instead, the
    /// part of the window that is not in flight; less what waits in the queue.
    pub fn room(&self) -> Bytes {
        let window = || self.limits.window.map_or(Bytes::MAX, |window| window.saturating_sub(self.in_flight));
        self.limits.media.frame().unwrap_or_else(window).saturating_sub(self.queue.bytes)
    }
}

/// A summary of the media queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct QueueView {
    /// Wire bytes waiting.
    pub bytes: Bytes,
    /// Packets waiting.
    pub packets: u64,
    /// When the oldest was queued; `None` if nothing waits.
    pub oldest: Option<Time>,
}

impl QueueView {
    /// A queue of so many bytes on the wire and packets, the oldest of which was queued then.
    pub const fn new(bytes: Bytes, packets: u64, oldest: Option<Time>) -> QueueView {
        QueueView { bytes, packets, oldest }
    }

    /// How long the oldest packet has waited; zero if nothing waits.
    pub fn age(&self, now: Time) -> Span {
        self.oldest.map_or(Span::ZERO, |oldest| now - oldest)
    }
}

/// Plan for a picture.
#[derive(Debug, Clone, PartialEq)]
pub enum FramePlan {
    /// Encode it like this.
    Encode(EncodePlan),
    /// Keep it until the queue is empty or a newer picture arrives.
    Hold(Why),
    /// Do not encode it.
    Skip(Why),
}

/// Verdict on the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueVerdict {
    /// Keep the queue.
    Keep,
    /// Keep the queue, and record that encoding is paused until it is empty.
    Pause,
    /// Keep the queue, and record that encoding resumes.
    Resume,
    /// Throw away every media packet in the queue; the next frame will be a keyframe.
    Flush,
}

/// FEC or a retransmission that has just left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepairSent {
    /// The packet.
    pub packet: PacketId,
    /// The first and the last frame of which it may stand for a packet.
    pub frames: (u64, u64),
}

/// All packets of a frame have left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameSent {
    /// The frame's number.
    pub frame: u64,
    /// When its last packet left.
    pub at: Time,
    /// The time since its first packet was queued: d_i (specs/vidaptive.md C10).
    pub delay: Span,
}
