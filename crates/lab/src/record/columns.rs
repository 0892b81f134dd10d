//! Meaning of the columns of `events.parquet` for each kind of event: the source of docs/reference/events.md and of the
//! view of each event. A test below fails for an event that is not here, or fills other columns.

/// The version of the columns and of what they hold: raised when a meaning changes, not when an event is added.
pub const SCHEMA_VERSION: u32 = 1;

/// A column of the table, for all events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name in the file.
    pub name: &'static str,
    /// Its unit; for a column that depends on the event, what all have in common.
    pub unit: &'static str,
}

/// The columns, in the file's order.
pub const COLUMNS: [Column; 13] = [
    column("time_ns", "ns since the start of the run"),
    column("flow", "number of the flow: 0 the sender under test, then competitors and cross traffic"),
    column("event", "kind of event"),
    column("packet", "number of a packet"),
    column("frame", "number of a frame"),
    column("picture", "number of a picture"),
    column("bytes", "bytes"),
    column("count", "a number, by event"),
    column("rate_bps", "bit/s"),
    column("span_ns", "ns"),
    column("value", "a figure, by event"),
    column("what", "a word, by event"),
    column("why", "the reason in words"),
];

const fn column(name: &'static str, unit: &'static str) -> Column {
    Column { name, unit }
}

/// A kind of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Its name in the column `event`.
    pub event: &'static str,
    /// Description of the event.
    pub about: &'static str,
    /// Columns that it fills beside time, flow and event.
    pub fields: &'static [Field],
}

/// Meaning of a column for one kind of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The column.
    pub column: &'static str,
    /// Its name in the event's view, with the unit as its end.
    pub name: &'static str,
    /// Description.
    pub about: &'static str,
}

const fn field(column: &'static str, name: &'static str, about: &'static str) -> Field {
    Field { column, name, about }
}

const fn kind(event: &'static str, about: &'static str, fields: &'static [Field]) -> Kind {
    Kind { event, about, fields }
}

const PICTURE: Field = field("picture", "picture", "the picture, from 0 in order of capture");
const FRAME: Field = field("frame", "frame", "the frame, from 0 in order of encoding");
const PACKET: Field = field("packet", "packet", "the packet, from 0 in sending order");
const SEQUENCE: Field = field("packet", "sequence", "the media packet's sequence number");
const SIZE: Field = field("bytes", "size_bytes", "its size on the wire, from IP upwards");
const QUEUED: Field = field("span_ns", "queued_ms", "time it waited in the queues of the path");
const PAYLOAD: Field = field("what", "payload", "media, padding, repair or audio");
const WHY: Field = field("why", "why", "the reason");
const MARKED: Field = field("why", "marked", "why a queue marked it (ECN CE); empty when none did");
const IN_FLIGHT: Field = field("bytes", "in_flight_bytes", "bytes in flight, on the wire");

/// Every kind of event, along the way of a picture.
pub const EVENTS: [Kind; 38] = [
    kind("picture-read", "The camera delivered a picture.", &[PICTURE]),
    kind("picture-skipped", "A picture will not be encoded.", &[PICTURE, WHY]),
    kind("picture-held", "A picture waits for the sender's queue to become empty.", &[PICTURE, WHY]),
    kind(
        "encode-started",
        "A picture went to the encoder.",
        &[
            PICTURE,
            field("rate_bps", "target_bps", "the encoder's target; 0 when it is not a rate"),
            field("count", "height", "height of the frame in lines"),
            field("value", "candidates", "how many encodings were asked for"),
        ],
    ),
    kind("keyframe-forced", "The next frame will be a keyframe.", &[WHY]),
    kind(
        "frame-queued",
        "A frame was chosen and waits to be sent.",
        &[
            FRAME,
            PICTURE,
            field("bytes", "payload_bytes", "its payload"),
            field("count", "packets", "how many packets it takes"),
            field("value", "quantizer", "its quantiser, in the codec's scale; 255 when unknown"),
            field("what", "type", "keyframe or delta"),
        ],
    ),
    kind(
        "packet-sent",
        "A packet left the sender.",
        &[
            PACKET,
            PAYLOAD,
            SIZE,
            field("count", "in_flight_bytes", "bytes in flight, this packet included"),
            field("value", "repeats", "sequence number of the media packet that it repeats; empty if none"),
        ],
    ),
    kind(
        "frame-sent",
        "The last packet of a frame left.",
        &[FRAME, field("span_ns", "waited_ms", "time since the frame was queued")],
    ),
    kind(
        "frame-flushed",
        "Packets of a frame were thrown away unsent.",
        &[FRAME, field("count", "packets", "how many of its packets had not left")],
    ),
    kind("paused", "Encoding pauses.", &[field("span_ns", "age_ms", "how long the oldest queued packet has waited")]),
    kind("resumed", "Encoding resumes.", &[WHY]),
    kind(
        "reset",
        "The sender's queue was thrown away.",
        &[
            field("span_ns", "age_ms", "how long the oldest packet had waited"),
            field("count", "packets", "how many packets were thrown away"),
        ],
    ),
    kind(
        "size-changed",
        "The resolution of frames changed.",
        &[field("count", "height", "the new height in lines"), field("value", "old_height", "the height before")],
    ),
    kind(
        "feedback",
        "Feedback on sent packets reached the sender.",
        &[
            field("count", "arrived", "packets that it reports as arrived"),
            field("value", "lost", "packets that it declares lost"),
            field("span_ns", "rtt_ms", "round-trip time of the newest packet that arrived; empty if none did"),
            IN_FLIGHT,
        ],
    ),
    kind(
        "send-limits",
        "The controller's limits changed by at least a hundredth.",
        &[
            field("rate_bps", "capacity_bps", "its estimate of the path's capacity, the base of the encoder's target"),
            field("value", "pacing_bps", "the pacing rate"),
            field("bytes", "window_bytes", "the window; empty if it has none"),
        ],
    ),
    kind(
        "decision",
        "The controller changed its rate.",
        &[
            field("what", "what", "what it did"),
            field("value", "from_bps", "the rate before"),
            field("rate_bps", "to_bps", "the rate after"),
            WHY,
        ],
    ),
    kind(
        "variable",
        "A variable of the controller or the frame policy, ten times a second.",
        &[
            field("what", "name", "its name; a unit is its end (_bps, _ms, _bytes)"),
            field("value", "value", "its value"),
        ],
    ),
    kind("probe-timeout", "No feedback for a probe timeout: packets may leave in spite of the window.", &[IN_FLIGHT]),
    kind("retransmission-refused", "A requested packet is not sent again.", &[SEQUENCE, WHY]),
    kind(
        "recovery-began",
        "A loss was detected: for a while frames refer only to what the receiver is known to have.",
        &[],
    ),
    kind("scheme-changed", "The scheme was changed during the run.", &[]),
    kind("packet-arrived", "A packet arrived over the forward path.", &[PACKET, PAYLOAD, SIZE, QUEUED, MARKED]),
    kind(
        "copy-arrived",
        "A copy that the path made of a packet arrived, after the packet or another copy.",
        &[PACKET, PAYLOAD, SIZE],
    ),
    kind("packet-dropped", "A packet was dropped on the forward path.", &[PACKET, PAYLOAD, SIZE, WHY]),
    kind("packet-recovered", "The receiver recovered a media packet by FEC.", &[SEQUENCE, FRAME]),
    kind(
        "report-sent",
        "The receiver sent a report.",
        &[field("count", "packets", "how many packets it covers"), SIZE],
    ),
    kind(
        "retransmission-requested",
        "The receiver asked for missing packets.",
        &[field("count", "packets", "how many")],
    ),
    kind("keyframe-requested", "The receiver asked for a keyframe.", &[]),
    kind("frame-abandoned", "The receiver gave a frame up.", &[FRAME]),
    kind(
        "frame-discarded",
        "A frame was decodable only after its deadline: decoded, but not shown.",
        &[FRAME, field("span_ns", "age_ms", "time since its picture was captured"), WHY],
    ),
    kind(
        "frame-displayed",
        "A frame was shown.",
        &[
            FRAME,
            PICTURE,
            field("span_ns", "latency_ms", "time since the picture was captured"),
            field("value", "psnr_db", "luma PSNR against the picture; empty when neither measured nor modelled"),
        ],
    ),
    kind(
        "states-disagree",
        "A frame led the decoder to another state than its sender predicted: a bug of this program.",
        &[FRAME],
    ),
    kind("datagram-arrived", "A datagram of cross traffic arrived.", &[SIZE, QUEUED]),
    kind("datagram-dropped", "A datagram of cross traffic was dropped.", &[SIZE, WHY]),
    kind(
        "segment-sent",
        "A segment of a competing TCP flow entered the path.",
        &[SIZE, field("value", "window_segments", "its sender's congestion window, in segments")],
    ),
    kind("segment-arrived", "A segment of a competing TCP flow arrived.", &[SIZE, QUEUED, MARKED]),
    kind("segment-dropped", "A segment of a competing TCP flow was dropped.", &[SIZE, WHY]),
    kind(
        "page-read",
        "A reader of web pages has a complete page.",
        &[
            field("bytes", "size_bytes", "its size"),
            field("span_ns", "load_time_ms", "how long it took, connection setup included"),
        ],
    ),
];

impl Field {
    /// The column as SQL, in the unit of its name.
    pub fn sql(&self) -> String {
        if self.column == "span_ns" { format!("span_ns / 1e6 AS {}", self.name) } else { self.renamed() }
    }

    fn renamed(&self) -> String {
        if self.column == self.name { self.name.into() } else { format!("{} AS {}", self.column, self.name) }
    }
}

impl Kind {
    /// A view of the table `events` that has only this event's columns, under names that say what they are.
    pub fn view(&self) -> String {
        let fields: String = self.fields.iter().map(|field| format!(", {}", field.sql())).collect();
        let (name, event) = (self.event.replace('-', "_"), self.event);
        format!(
            "CREATE VIEW {name} AS SELECT time_ns / 1e9 AS time_s, flow{fields} FROM events WHERE event = '{event}';"
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use thalweg_control::{Decision, PacketId, Payload};
    use thalweg_netsim::{DropReason, MarkReason};
    use thalweg_sender::{Event, Why};
    use thalweg_units::{Bytes, Rate, Size, Span, Time};

    use super::*;
    use crate::record::{Record, Row, What};

    /// One event of each kind, with everything that it can fill.
    fn samples() -> Vec<What> {
        use What::*;
        let (frame, picture, packets, queued, age) = (1, 1, 1, Span::ZERO, Span::ZERO);
        let (size, bytes, why, payload) = (Size::HD, Bytes::new(1), Why::Missing, Payload::Media);
        let (rate, at, dropped) = (Rate::ZERO, Time::ZERO, DropReason::Lost);
        let decision = Decision { at, what: "increase", why: "a reason", from: rate, to: rate };
        let sent = [
            Event::PictureRead { picture },
            Event::PictureSkipped { picture, why },
            Event::PictureHeld { picture, why },
            Event::EncodeStarted { picture, target: rate, size, candidates: 1 },
            Event::KeyframeForced { why },
            Event::FrameQueued { frame, picture, size: bytes, packets: 1, keyframe: true, quantizer: 1 },
            Event::SchemeChanged,
            Event::PacketSent { id: PacketId(1), payload, size: bytes, in_flight: bytes, repeats: Some(1) },
            Event::FrameSent { frame, delay: age },
            Event::FrameFlushed { frame, packets },
            Event::RecoveryBegan,
            Event::Paused { age },
            Event::Resumed { why },
            Event::Reset { age, packets },
            Event::SizeChanged { from: size, to: size },
            Event::Feedback { arrived: 1, lost: 0, rtt: Some(age), in_flight: bytes },
            Event::ProbeTimeout { in_flight: bytes },
            Event::SendLimits { window: Some(bytes), pacing: rate, capacity: rate },
            Event::Decision(decision.into()),
            Event::RetransmissionRefused { sequence: 1, why },
            Event::Variable { name: "alpha", value: 1.0 },
        ];
        let others = [
            Arrived { id: 1, payload, size: bytes, queued, marked: Some(MarkReason::Step) },
            CopyArrived { id: 1, payload, size: bytes },
            Dropped { id: 1, payload, size: bytes, why: dropped },
            DatagramArrived { size: bytes, queued },
            DatagramDropped { size: bytes, why: dropped },
            SegmentSent { size: bytes, window: 1.0 },
            SegmentArrived { size: bytes, queued, marked: Some(MarkReason::Step) },
            SegmentDropped { size: bytes, why: dropped },
            PageRead { size: bytes, took: age },
            ReportSent { packets: 1, size: bytes },
            Recovered { sequence: 1, frame },
            RetransmissionRequested { packets: 1 },
            KeyframeRequested,
            FrameAbandoned { frame },
            FrameDiscarded { frame, age },
            StatesDisagree { frame },
            Displayed { frame, picture, latency: age, psnr: 40.0 },
        ];
        sent.map(Sender).into_iter().chain(others).collect()
    }

    fn filled(row: &Row) -> BTreeSet<&'static str> {
        let number = [
            ("packet", row.packet.is_some()),
            ("frame", row.frame.is_some()),
            ("picture", row.picture.is_some()),
            ("bytes", row.bytes.is_some()),
            ("count", row.count.is_some()),
            ("rate_bps", row.rate_bps.is_some()),
            ("span_ns", row.span_ns.is_some()),
            ("value", row.value.is_some()),
            ("what", !row.what.is_empty()),
            ("why", !row.why.is_empty()),
        ];
        number.into_iter().filter_map(|(name, is_filled)| is_filled.then_some(name)).collect()
    }

    #[test]
    fn every_event_fills_the_columns_that_are_documented_and_no_other() {
        let mut seen = BTreeSet::new();
        for what in samples() {
            let row = Row::of(&Record { at: Time::ZERO, flow: 0, what });
            let kind = EVENTS.iter().find(|kind| kind.event == row.event);
            let kind = kind.unwrap_or_else(|| panic!("columns.rs does not have {}", row.event));
            let documented: BTreeSet<&str> = kind.fields.iter().map(|field| field.column).collect();
            assert_eq!(filled(&row), documented, "{}", row.event);
            seen.insert(row.event);
        }
        assert_eq!(seen.len(), EVENTS.len(), "an event is documented twice, or is none");
        assert!(EVENTS.iter().all(|kind| seen.contains(kind.event)));
    }

    /// An event that has a row in `row.rs` but no sample above would pass the test above.
    #[test]
    fn every_event_that_has_a_row_is_documented() {
        let source = include_str!("row.rs");
        let named = source.split("kind(").skip(1).filter_map(|rest| {
            let (number, rest) = rest.split_once(", \"")?;
            number.parse::<u8>().ok()?;
            rest.split('"').next()
        });
        let named: BTreeSet<&str> = named.filter(|name| *name != "unknown").collect();
        assert_eq!(named, EVENTS.iter().map(|kind| kind.event).collect());
    }

    #[test]
    fn a_view_names_its_columns_by_what_they_hold() {
        let view = EVENTS.iter().find(|kind| kind.event == "paused").unwrap().view();
        assert_eq!(
            view,
            "CREATE VIEW paused AS SELECT time_ns / 1e9 AS time_s, flow, span_ns / 1e6 AS age_ms FROM events \
             WHERE event = 'paused';"
        );
        assert!(EVENTS.iter().flat_map(|kind| kind.fields).all(|field| COLUMNS.iter().any(|c| c.name == field.column)));
    }
}
