//! An event as a table row; all events have the same columns.

use thalweg_netsim::{DropReason, MarkReason};
use thalweg_sender::Event;
use thalweg_units::{Bytes, Rate, Span};

use super::{Record, What};

/// One event in columns. Columns that do not apply are empty.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Row<'a> {
    /// Nanoseconds since the start.
    pub time_ns: u64,
    /// The flow's number.
    pub flow: u16,
    /// A number for the kind of event, for hashing; 0 in a row that was read.
    pub(super) kind: u8,
    /// The kind of event.
    pub event: &'a str,
    /// A packet's index in sending order, or a media packet's sequence number.
    pub packet: Option<u64>,
    /// A frame's number.
    pub frame: Option<u64>,
    /// A picture's number.
    pub picture: Option<u64>,
    /// An amount of data, in bytes.
    pub bytes: Option<u64>,
    /// A count, depending on the event; for a picture size its height in lines.
    pub count: Option<u64>,
    /// A rate, in bit/s.
    pub rate_bps: Option<u64>,
    /// A duration, in nanoseconds.
    pub span_ns: Option<i64>,
    /// Any other figure.
    pub value: Option<f64>,
    /// A detail, in a word.
    pub what: &'a str,
    /// The reason, in a few words.
    pub why: &'a str,
}

impl Row<'_> {
    /// Converts a record.
    pub fn of(record: &Record) -> Row<'static> {
        let mut row = match record.what {
            What::Sender(ref event) => of_event(event),
            What::Arrived { id, payload, size, queued, marked } => {
                let (what, why) = (payload.name(), mark_name(marked));
                Row { packet: Some(id), what, why, ..kind(40, "packet-arrived") }.bytes(size).span(queued)
            }
            What::CopyArrived { id, payload, size } => {
                Row { packet: Some(id), what: payload.name(), ..kind(56, "copy-arrived") }.bytes(size)
            }
            What::Dropped { id, payload, size, why } => {
                let why = drop_name(why);
                Row { packet: Some(id), what: payload.name(), why, ..kind(41, "packet-dropped") }.bytes(size)
            }
            What::DatagramArrived { size, queued } => kind(47, "datagram-arrived").bytes(size).span(queued),
            What::DatagramDropped { size, why } => {
                Row { why: drop_name(why), ..kind(48, "datagram-dropped") }.bytes(size)
            }
            What::SegmentSent { size, window } => Row { value: Some(window), ..kind(50, "segment-sent") }.bytes(size),
            What::SegmentArrived { size, queued, marked } => {
                Row { why: mark_name(marked), ..kind(51, "segment-arrived") }.bytes(size).span(queued)
            }
            What::SegmentDropped { size, why } => {
                Row { why: drop_name(why), ..kind(52, "segment-dropped") }.bytes(size)
            }
            What::PageRead { size, took } => kind(53, "page-read").bytes(size).span(took),
            What::ReportSent { packets, size } => {
                Row { count: Some(packets.into()), ..kind(42, "report-sent") }.bytes(size)
            }
            What::Recovered { sequence, frame } => {
                Row { packet: Some(sequence), frame: Some(frame), ..kind(54, "packet-recovered") }
            }
            What::RetransmissionRequested { packets } => {
                Row { count: Some(packets.into()), ..kind(43, "retransmission-requested") }
            }
            What::KeyframeRequested => kind(44, "keyframe-requested"),
            What::StatesDisagree { frame } => Row { frame: Some(frame), ..kind(49, "states-disagree") },
            What::FrameAbandoned { frame } => Row { frame: Some(frame), ..kind(45, "frame-abandoned") },
            What::FrameDiscarded { frame, age } => {
                Row { frame: Some(frame), why: "past its deadline", ..kind(55, "frame-discarded") }.span(age)
            }
            What::Displayed { frame, picture, latency, psnr } => {
                let value = Some(psnr).filter(|psnr| psnr.is_finite());
                Row { frame: Some(frame), picture: Some(picture), value, ..kind(46, "frame-displayed") }.span(latency)
            }
        };
        row.time_ns = record.at.as_nanos();
        row.flow = record.flow;
        row
    }

    /// The row as words for hashing.
    #[inline]
    pub(super) fn words(&self) -> [u64; 12] {
        // The packet that another repeats (packet-sent, 7) follows from what was lost and requested, which other events say.
        let value = self.value.filter(|_| self.kind != 7);
        [
            self.time_ns,
            u64::from(self.flow) << 8 | u64::from(self.kind),
            self.packet.map_or(u64::MAX, |value| value),
            self.frame.map_or(u64::MAX, |value| value),
            self.picture.map_or(u64::MAX, |value| value),
            self.bytes.map_or(u64::MAX, |value| value),
            self.count.map_or(u64::MAX, |value| value),
            self.rate_bps.map_or(u64::MAX, |value| value),
            self.span_ns.map_or(u64::MAX, |value| value as u64),
            value.map_or(u64::MAX, f64::to_bits),
            text_word(self.what),
            text_word(self.why),
        ]
    }

    fn bytes(self, bytes: Bytes) -> Self {
        Row { bytes: Some(bytes.get()), ..self }
    }

    fn rate(self, rate: Rate) -> Self {
        Row { rate_bps: Some(rate.as_bps()), ..self }
    }

    fn span(self, span: Span) -> Self {
        Row { span_ns: Some(span.as_nanos()), ..self }
    }
}

/// A text as a word (FNV-1a, 64 bits) of its full length, because reasons often differ only in their last words.
fn text_word(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |word, byte| (word ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn kind(kind: u8, event: &'static str) -> Row<'static> {
    Row { kind, event, ..Row::default() }
}

fn drop_name(why: DropReason) -> &'static str {
    match why {
        DropReason::QueueFull => "the queue was full",
        DropReason::QueueManaged => "the queue's management dropped it",
        DropReason::Lost => "lost at random",
        DropReason::LinkOff => "the link was off",
        DropReason::Policed => "it exceeded the policer's rate",
        DropReason::EcnCapable => "a middlebox drops what is capable of ECN",
    }
}

fn mark_name(why: Option<MarkReason>) -> &'static str {
    match why {
        None => "",
        Some(MarkReason::Step) => "marked: it waited longer than a threshold",
        Some(MarkReason::Ramp) => "marked: it waited longer than where a ramp begins",
        Some(MarkReason::Coupled) => "marked: for the classic queue's delay",
        Some(MarkReason::Classic) => "marked in place of a drop",
        Some(MarkReason::Predicted) => "marked: it was going to wait",
    }
}

fn of_event(event: &Event) -> Row<'static> {
    match *event {
        Event::PictureRead { picture } => Row { picture: Some(picture), ..kind(1, "picture-read") },
        Event::PictureSkipped { picture, why } => {
            Row { picture: Some(picture), why: why.text(), ..kind(2, "picture-skipped") }
        }
        Event::PictureHeld { picture, why } => {
            Row { picture: Some(picture), why: why.text(), ..kind(3, "picture-held") }
        }
        Event::EncodeStarted { picture, target, size, candidates } => {
            let value = Some(f64::from(candidates));
            Row { picture: Some(picture), count: Some(size.height.into()), value, ..kind(4, "encode-started") }
                .rate(target)
        }
        Event::KeyframeForced { why } => Row { why: why.text(), ..kind(5, "keyframe-forced") },
        Event::FrameQueued { frame, picture, size, packets, keyframe, quantizer } => Row {
            frame: Some(frame),
            picture: Some(picture),
            count: Some(packets.into()),
            value: Some(f64::from(quantizer)),
            what: if keyframe { "keyframe" } else { "delta" },
            ..kind(6, "frame-queued")
        }
        .bytes(size),
        Event::PacketSent { id, payload, size, in_flight, repeats } => {
            let (count, value) = (Some(in_flight.get()), repeats.map(f64::from));
            Row { packet: Some(id.0), what: payload.name(), count, value, ..kind(7, "packet-sent") }.bytes(size)
        }
        Event::FrameSent { frame, delay } => Row { frame: Some(frame), ..kind(8, "frame-sent") }.span(delay),
        Event::FrameFlushed { frame, packets } => {
            Row { frame: Some(frame), count: Some(packets), ..kind(9, "frame-flushed") }
        }
        Event::Paused { age } => kind(10, "paused").span(age),
        Event::Resumed { why } => Row { why: why.text(), ..kind(11, "resumed") },
        Event::Reset { age, packets } => Row { count: Some(packets), ..kind(12, "reset") }.span(age),
        Event::SizeChanged { from, to } => {
            Row { count: Some(to.height.into()), value: Some(f64::from(from.height)), ..kind(13, "size-changed") }
        }
        Event::Feedback { arrived, lost, rtt, in_flight } => Row {
            count: Some(arrived.into()),
            value: Some(f64::from(lost)),
            span_ns: rtt.map(Span::as_nanos),
            ..kind(14, "feedback")
        }
        .bytes(in_flight),
        Event::SendLimits { window, pacing, capacity } => {
            Row { bytes: window.map(Bytes::get), value: Some(pacing.as_bps_f64()), ..kind(15, "send-limits") }
                .rate(capacity)
        }
        Event::Decision(ref decision) => Row {
            what: decision.what,
            why: decision.why,
            value: Some(decision.from.as_bps_f64()),
            ..kind(16, "decision")
        }
        .rate(decision.to),
        Event::RetransmissionRefused { sequence, why } => {
            Row { packet: Some(sequence), why: why.text(), ..kind(17, "retransmission-refused") }
        }
        Event::SchemeChanged => kind(20, "scheme-changed"),
        Event::RecoveryBegan => kind(19, "recovery-began"),
        Event::ProbeTimeout { in_flight } => kind(21, "probe-timeout").bytes(in_flight),
        Event::Variable { name, value } => Row { what: name, value: Some(value), ..kind(18, "variable") },
        // A new event needs its own row format; until then it is counted as unknown.
        _ => kind(255, "unknown"),
    }
}

#[cfg(test)]
mod tests {
    use super::text_word;

    #[test]
    fn reasons_that_begin_alike_and_are_as_long_have_different_words() {
        for (one, other) in [
            ("round trip above its 90th percentile", "round trip above its 75th percentile"),
            ("quantiser below threshold", "quantiser above threshold"),
            ("frame sample below B", "frame sample above B"),
        ] {
            assert_ne!(text_word(one), text_word(other), "{one}, {other}");
        }
    }
}
