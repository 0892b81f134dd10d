//! Events of a sender and their reasons: one stream for charts, files, `explain` and tests.

use alloc::boxed::Box;
use core::fmt;

use thalweg_control::{Decision, PacketId, Payload};
use thalweg_units::{Bytes, Rate, Size, Span, Time};

/// The reason of a decision. A frame policy of another program says its own in words: [`Why::Policy`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Why {
    /// A packet has waited in the queue longer than the pause threshold.
    QueueOld,
    /// The queue would take longer to send than its limit.
    QueueLong,
    /// A packet has waited in the queue longer than the reset age.
    QueueHopeless,
    /// The queue has become empty.
    QueueEmpty,
    /// The picture had aged too much when encoding could resume.
    PictureOld,
    /// A newer picture arrived first.
    PictureSuperseded,
    /// The encoder was still busy with the previous picture.
    EncoderBusy,
    /// The encoder's own rate control dropped it.
    EncoderDropped,
    /// The controller's pushback (more in flight than its data window).
    Pushback,
    /// None of the candidates fits.
    NoCandidateFits,
    /// The frame it refers to was left out of its group of frames.
    ReferenceLeftOut,
    /// No feedback on what is in flight: anything sent now would only wait.
    NoFeedback,
    /// So few frames were sent that the path must be in an outage.
    FewFramesSent,
    /// Hindsight: the choice that would have served the last second best.
    Hindsight,
    /// No samples yet to decide by.
    NoSamples,
    /// The encoder produces less than its target.
    EncoderUnderuses,
    /// The encoder dropped most frames.
    EncoderDropsFrames,
    /// The quantiser's quick average is above its threshold.
    QuantizerHigh,
    /// The quantiser's slow average is below its threshold.
    QuantizerLow,
    /// The call begins at a low start rate.
    LowStartRate,
    /// It is the first frame.
    FirstFrame,
    /// The receiver asked for a keyframe.
    ReceiverRequest,
    /// The scheme was changed during the call.
    SchemeChanged,
    /// Recent packet losses, and enough spare rate spent on padding to pay for a keyframe.
    LossesAndRoom,
    /// The queue was thrown away, so references are missing at the receiver.
    QueueFlushed,
    /// The receiver reported it missing.
    Missing,
    /// It is no longer in the retransmission history.
    Forgotten,
    /// It was retransmitted less than a round trip ago, or is about to be.
    JustRetransmitted,
    /// Retransmissions already take more of the wire than their share.
    RetransmissionsExceedShare,
    /// A frame policy's own reason, in a few words as [`Why::text`] returns them.
    Policy(&'static str),
}

impl Why {
    /// The reason in a few words, as reports print it.
    pub const fn text(self) -> &'static str {
        match self {
            Why::QueueOld => "a packet waited longer than the pause threshold",
            Why::QueueLong => "the queue would take longer to send than its limit",
            Why::QueueHopeless => "a packet waited longer than the reset age",
            Why::QueueEmpty => "the queue is empty",
            Why::PictureOld => "the picture is too old",
            Why::PictureSuperseded => "a newer picture came",
            Why::EncoderBusy => "the encoder is busy",
            Why::EncoderDropped => "the encoder's rate control dropped it",
            Why::Pushback => "more in flight than the data window",
            Why::NoCandidateFits => "no candidate fits",
            Why::ReferenceLeftOut => "what it refers to was left out of its group of frames",
            Why::NoFeedback => "no feedback on what is in flight",
            Why::FewFramesSent => "few frames got out in the last second",
            Why::Hindsight => "would have served the last second best",
            Why::NoSamples => "nothing to judge by yet",
            Why::EncoderUnderuses => "the encoder leaves rate unused",
            Why::EncoderDropsFrames => "the encoder drops most frames",
            Why::QuantizerHigh => "quantiser above threshold",
            Why::QuantizerLow => "quantiser below threshold",
            Why::LowStartRate => "the call starts at a low rate",
            Why::FirstFrame => "first frame",
            Why::ReceiverRequest => "the receiver requested it",
            Why::SchemeChanged => "the scheme changed",
            Why::LossesAndRoom => "packets were lost and padding could pay for it",
            Why::QueueFlushed => "the queue was thrown away",
            Why::Missing => "reported missing",
            Why::Forgotten => "no longer in the history",
            Why::JustRetransmitted => "retransmitted less than a round trip ago",
            Why::RetransmissionsExceedShare => "retransmissions take their share of the wire already",
            Why::Policy(reason) => reason,
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// The reason that a sender wants to be woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Wake {
    /// The pacer may release the next media packet.
    Pacer,
    /// A retransmission that waits for its budget may leave.
    Repair,
    /// The next padding packet may leave, or the guard before a camera read ends.
    Padding,
    /// A probe's next packet is due.
    Probe,
    /// The frame policy watches the queue's age.
    FramePolicy,
    /// The controller's timer.
    Controller,
    /// The probe timeout: packets leave in spite of the window, to bring feedback back.
    ProbeTimeout,
    /// The feedback timeout: what is in flight will count as lost.
    FeedbackTimeout,
    /// Nothing to wait for.
    Nothing,
}

/// Something a sender did or learned.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A picture was read from the camera.
    PictureRead {
        /// The picture.
        picture: u64,
    },
    /// A picture will not be encoded.
    PictureSkipped {
        /// The picture.
        picture: u64,
        /// Why.
        why: Why,
    },
    /// A picture waits for the queue to become empty.
    PictureHeld {
        /// The picture.
        picture: u64,
        /// Why.
        why: Why,
    },
    /// A picture went to the encoder.
    EncodeStarted {
        /// The picture.
        picture: u64,
        /// The target rate; zero when the target is not a rate.
        target: Rate,
        /// The size of the frame, in pixels.
        size: Size,
        /// How many candidates were asked for.
        candidates: u8,
    },
    /// The next frame will be a keyframe.
    KeyframeForced {
        /// Why.
        why: Why,
    },
    /// A frame was queued.
    FrameQueued {
        /// The frame.
        frame: u64,
        /// The picture it shows.
        picture: u64,
        /// Its payload bytes.
        size: Bytes,
        /// How many packets it takes.
        packets: u16,
        /// True for a keyframe.
        keyframe: bool,
        /// Its quantiser, in the codec's scale; 255 when unknown.
        quantizer: u8,
    },
    /// The scheme was changed during the call.
    SchemeChanged,
    /// A packet left.
    PacketSent {
        /// Its number in sending order.
        id: PacketId,
        /// The kind of packet.
        payload: Payload,
        /// Its wire size.
        size: Bytes,
        /// Bytes in flight, this packet included.
        in_flight: Bytes,
        /// The number of the media packet that it repeats, if it is a retransmission.
        repeats: Option<u32>,
    },
    /// A frame's last packet left.
    FrameSent {
        /// The frame.
        frame: u64,
        /// Time since the frame was queued.
        delay: Span,
    },
    /// Packets of a frame were thrown away unsent.
    FrameFlushed {
        /// The frame.
        frame: u64,
        /// How many of its packets had not left.
        packets: u64,
    },
    /// A loss was detected: for a while frames refer only to what the receiver is known to have.
    RecoveryBegan,
    /// Encoding is paused.
    Paused {
        /// How long the oldest packet has waited.
        age: Span,
    },
    /// Encoding resumed.
    Resumed {
        /// Why.
        why: Why,
    },
    /// The queue was thrown away (Encoder Reset).
    Reset {
        /// How long the oldest packet had waited.
        age: Span,
        /// How many packets were thrown away.
        packets: u64,
    },
    /// The size of frames changed.
    SizeChanged {
        /// Before.
        from: Size,
        /// After.
        to: Size,
    },
    /// Feedback on sent packets arrived.
    Feedback {
        /// How many packets it reports as arrived.
        arrived: u32,
        /// How many it declares lost.
        lost: u32,
        /// Round-trip time of the newest packet that arrived, if any did.
        rtt: Option<Span>,
        /// Bytes in flight afterwards.
        in_flight: Bytes,
    },
    /// No feedback came for a probe timeout: packets may leave in spite of the window (RFC 9002 section 6.2).
    ProbeTimeout {
        /// Bytes in flight.
        in_flight: Bytes,
    },
    /// Limits of the controller, recorded when they changed noticeably (by a hundredth).
    SendLimits {
        /// The window, if it has one.
        window: Option<Bytes>,
        /// The pacing rate in force.
        pacing: Rate,
        /// The estimated capacity of the path.
        capacity: Rate,
    },
    /// The controller decided something. Boxed: it is rare and large, and a run keeps millions of events.
    Decision(Box<Decision>),
    /// The receiver reported a packet missing, and it will not be retransmitted.
    RetransmissionRefused {
        /// The media packet.
        sequence: u64,
        /// Why.
        why: Why,
    },
    /// A variable of the controller or the policy, sampled ten times a second.
    Variable {
        /// Its name in the paper or specification.
        name: &'static str,
        /// Its value.
        value: f64,
    },
}

/// An event with its time.
#[derive(Debug, Clone, PartialEq)]
pub struct Timed {
    /// When.
    pub at: Time,
    /// The event.
    pub event: Event,
}
