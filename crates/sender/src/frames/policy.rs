//! The seam for deciding which pictures become frames.

use thalweg_control::{Demand, Feedback, SendLimits};
use thalweg_media::feedback::DecoderReport;
use thalweg_media::{EncodePlan, EncodedFrame};
use thalweg_units::{Bytes, Rate, Size, Span, Time};

use crate::event::Why;

/// Decides, for each picture, whether to encode it and how; and for the queue, whether it is still worth sending.
///
/// One method is required: [`super::EveryFrame`] needs no other. A policy that chooses among candidates (Salsify) or that
/// bounds the queue's age (Vidaptive) overrides the rest.
pub trait FramePolicy: Send {
    /// A picture waits: encode it, hold it until the queue is empty, or let it go.
    fn plan(&mut self, view: &View) -> FramePlan;

    /// What rates the encoder can be asked for, where it is steered by a rate within bounds.
    fn demand(&self) -> Option<Demand> {
        None
    }

    /// Whether it takes a functional codec, which makes several frames of a picture and can go back.
    fn wants_candidates(&self) -> bool {
        false
    }

    /// In how many temporal layers its frames are made, at least 1.
    fn layers(&self) -> u8 {
        1
    }

    /// Whether the picture that waits begins a group that is planned as a whole, and how long that will take: the controller is notified first
    /// ([`thalweg_control::Signal::Period`]), and what it then allows is what [`FramePolicy::plan`] sees.
    fn begins_period(&self, view: &View) -> Option<Span> {
        let _ = view;
        None
    }

    /// The candidates are made: which of them to send, if any. As late as possible, so `view` may have changed.
    fn choose(&mut self, view: &View, candidates: &[EncodedFrame]) -> Option<usize> {
        let _ = view;
        (!candidates.is_empty()).then_some(0)
    }

    /// The encoder made a frame and it was queued as `frame`, in so many packets.
    fn on_queued(&mut self, now: Time, frame: u64, encoded: &EncodedFrame, packets: u16) {
        let _ = (now, frame, encoded, packets);
    }

    /// A frame's last packet left the pacer.
    fn on_frame_sent(&mut self, sent: &FrameSent) {
        let _ = sent;
    }

    /// It became known what packets arrived.
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let _ = feedback;
    }

    /// The receiver said what state its decoder is in.
    fn on_decoder(&mut self, now: Time, report: &DecoderReport) {
        let _ = (now, report);
    }

    /// What waited was thrown away. Says whether the policy's next frame will do without it; if not, it has to be a keyframe.
    fn on_flushed(&mut self, now: Time) -> bool {
        let _ = now;
        false
    }

    /// Whether frames refer only to what was acknowledged, because of a loss.
    fn is_recovering(&self, now: Time) -> bool {
        let _ = now;
        false
    }

    /// The next frame whose kept state ([`EncodePlan::keep`]) no plan will name again.
    fn poll_forgotten(&mut self) -> Option<u64> {
        None
    }

    /// The queue changed, or time passed: what to do about what waits in it.
    fn on_queue(&mut self, now: Time, queue: &QueueView) -> QueueVerdict {
        let _ = (now, queue);
        QueueVerdict::Keep
    }

    /// When [`FramePolicy::on_queue`] should be asked again although nothing happens.
    fn next_timeout(&self, queue: &QueueView) -> Time {
        let _ = queue;
        Time::NEVER
    }

    /// Shows the variables a person would want to see in a chart.
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
    /// A picture came while the encoder was busy, and it is free now.
    EncoderFree,
}

/// What a policy sees when a picture waits. An engine makes one; a test makes one with [`View::new`] and sets what it is about.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct View {
    /// The time.
    pub now: Time,
    /// Why it is asked.
    pub occasion: Occasion,
    /// What the controller allows.
    pub limits: SendLimits,
    /// What the pacer sends at: CC-Rate in a Vidaptive scheme.
    pub pacing: Rate,
    /// Smoothed round-trip time; 100 ms before the first sample (specs/vidaptive.md C3).
    pub srtt: Span,
    /// Bytes in flight.
    pub in_flight: Bytes,
    /// The media queue.
    pub queue: QueueView,
    /// How old the waiting picture is.
    pub picture_age: Span,
    /// The camera's interval.
    pub interval: Span,
    /// The camera's size.
    pub source: Size,
    /// The number the next encoded frame will have.
    pub next_frame: u64,
    /// The share of what is sent, padding apart, that is payload of media sent for the first time; 1 when nothing was sent.
    pub payload_share: f64,
    /// Whether the receiver asked for a keyframe or the encoder needs one: the plan will be a keyframe whatever it says.
    pub keyframe_due: bool,
}

impl View {
    /// A picture of a camera of this size and interval has just been read, and nothing waits or was sent before it.
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
            keyframe_due: false,
        }
    }
}

/// The media queue, in brief.
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
    /// How long the oldest packet has waited; zero if nothing waits.
    pub fn age(&self, now: Time) -> Span {
        self.oldest.map_or(Span::ZERO, |oldest| now - oldest)
    }
}

/// What to do with a picture.
#[derive(Debug, Clone, PartialEq)]
pub enum FramePlan {
    /// Encode it so.
    Encode(EncodePlan),
    /// Keep it until the queue is empty, or a newer one comes.
    Hold(Why),
    /// Let it go.
    Skip(Why),
}

/// What to do with the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueVerdict {
    /// Go on.
    Keep,
    /// Go on, and record that encoding is paused until the queue is empty.
    Pause,
    /// Go on, and record that encoding goes on again.
    Resume,
    /// Throw away every media packet in it; the next frame will be a keyframe.
    Flush,
}

/// A frame has wholly left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameSent {
    /// The frame's number.
    pub frame: u64,
    /// When its last packet left.
    pub at: Time,
    /// How long after its first packet was queued that was: d_i (specs/vidaptive.md C10).
    pub delay: Span,
}
