//! The engine's events as qlog (draft-ietf-quic-qlog-main-schema-13): a sequence of JSON records (RFC 7464), so that a
//! truncated file is still readable.
//!
//! Packets, losses and the controller's variables are events of qlog's `recovery` namespace, which qvis draws; frames
//! and decisions have this project's own namespace (`thalweg:`).

use std::io::{self, Write};

use serde_json::{Value, json};
use thalweg_sender::{Event, Timed};
use thalweg_units::{Span, Time};

/// The start of each record of a JSON text sequence (RFC 7464 section 2.2).
const RECORD_SEPARATOR: u8 = 0x1e;

/// A trace being written.
pub struct Qlog<W: Write> {
    out: W,
    begin: Time,
}

impl<W: Write> Qlog<W> {
    /// Starts a trace of one sender; times count from `begin`, which was at `wall_ms` (milliseconds since 1970).
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(mut out: W, title: &str, scheme: &str, begin: Time, wall_ms: f64) -> io::Result<Qlog<W>> {
        record(
            &mut out,
            &json!({
                "file_schema": "urn:ietf:params:qlog:file:sequential",
                "serialization_format": "application/qlog+json-seq",
                "title": title,
                "trace": {
                    "common_fields": { "time_format": "relative_to_epoch", "reference_time": { "clock_type": "system", "epoch": wall_ms } },
                    "vantage_point": { "name": scheme, "type": "server" },
                    "event_schemas": ["urn:ietf:params:qlog:events:quic", "urn:thalweg:qlog:events"],
                },
            }),
        )?;
        Ok(Qlog { out, begin })
    }

    /// Adds an event.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, timed: &Timed) -> io::Result<()> {
        let Some((name, data)) = of(&timed.event) else { return Ok(()) };
        let time = millis(timed.at - self.begin);
        record(&mut self.out, &json!({ "time": time, "name": name, "data": data }))
    }

    /// Flushes the trace.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn record(out: &mut impl Write, value: &Value) -> io::Result<()> {
    out.write_all(&[RECORD_SEPARATOR])?;
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

fn millis(span: Span) -> f64 {
    span.as_millis_f64()
}

/// An event's name and data; `None` for events that only the laboratory uses.
fn of(event: &Event) -> Option<(&'static str, Value)> {
    Some(match event {
        Event::PacketSent { id, payload, size, in_flight, .. } => (
            "recovery:packet_sent",
            json!({ "header": { "packet_number": id.0 }, "raw": { "length": size.get() }, "payload": payload.name(), "bytes_in_flight": in_flight.get() }),
        ),
        Event::Feedback { arrived, lost, rtt, in_flight } => (
            "recovery:metrics_updated",
            json!({ "bytes_in_flight": in_flight.get(), "latest_rtt": rtt.map(millis), "acked_packets": arrived, "lost_packets": lost }),
        ),
        Event::SendLimits { window, pacing, capacity } => (
            "recovery:metrics_updated",
            json!({ "congestion_window": window.map(|window| window.get()), "pacing_rate": pacing.as_bps(), "capacity": capacity.as_bps() }),
        ),
        Event::FrameQueued { frame, picture, size, packets, keyframe, quantizer } => (
            "thalweg:frame_queued",
            json!({ "frame": frame, "picture": picture, "length": size.get(), "packets": packets, "keyframe": keyframe, "quantizer": quantizer }),
        ),
        Event::FrameSent { frame, delay } => ("thalweg:frame_sent", json!({ "frame": frame, "delay": millis(*delay) })),
        Event::PictureSkipped { picture, why } => {
            ("thalweg:picture_skipped", json!({ "picture": picture, "reason": why.text() }))
        }
        Event::KeyframeForced { why } => ("thalweg:keyframe_forced", json!({ "reason": why.text() })),
        Event::EncodeStarted { picture, target, size, .. } => (
            "thalweg:encode_started",
            json!({ "picture": picture, "target": target.as_bps(), "width": size.width, "height": size.height }),
        ),
        Event::Paused { age } => ("thalweg:paused", json!({ "age": millis(*age) })),
        Event::Resumed { why } => ("thalweg:resumed", json!({ "reason": why.text() })),
        Event::Reset { age, packets } => ("thalweg:reset", json!({ "age": millis(*age), "packets": packets })),
        Event::SchemeChanged => ("thalweg:scheme_changed", json!({})),
        Event::ProbeTimeout { in_flight } => ("thalweg:probe_timeout", json!({ "bytes_in_flight": in_flight.get() })),
        Event::RecoveryBegan => ("thalweg:recovery_began", json!({})),
        Event::RetransmissionRefused { sequence, why } => {
            ("thalweg:retransmission_refused", json!({ "sequence": sequence, "reason": why.text() }))
        }
        Event::Decision(decision) => (
            "thalweg:decision",
            json!({ "what": decision.what, "reason": decision.why, "from": decision.from.as_bps(), "to": decision.to.as_bps() }),
        ),
        Event::Variable { name, value } => ("thalweg:variable", json!({ "name": name, "value": value })),
        Event::SizeChanged { from, to } => {
            ("thalweg:size_changed", json!({ "from": from.to_string(), "to": to.to_string() }))
        }
        // Among others, pictures that were read or held, and frames that were discarded.
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_control::{PacketId, Payload};
    use thalweg_units::{Bytes, Rate};

    #[test]
    fn every_record_is_json_behind_a_separator_with_times_from_the_beginning() {
        let begin = Time::from_millis(500);
        let mut bytes = Vec::new();
        let mut log = Qlog::new(&mut bytes, "call", "gcc", begin, 1_700_000_000_000.0).unwrap();
        let sent = Event::PacketSent {
            id: PacketId(7),
            payload: Payload::Media,
            size: Bytes::new(1200),
            in_flight: Bytes::new(2400),
            repeats: None,
        };
        let allowed = Event::SendLimits { window: None, pacing: Rate::from_kbps(500), capacity: Rate::from_kbps(400) };
        for (millis, event) in [(510, sent), (520, Event::PictureRead { picture: 1 }), (530, allowed)] {
            log.add(&Timed { at: Time::from_millis(millis), event }).unwrap();
        }
        log.finish().unwrap();
        let records: Vec<Value> = (bytes.split(|byte| *byte == RECORD_SEPARATOR).skip(1))
            .map(|record| serde_json::from_slice(record).unwrap())
            .collect();
        assert_eq!(records.len(), 3);
        assert_eq!(records[0]["trace"]["common_fields"]["reference_time"]["epoch"], 1_700_000_000_000.0);
        assert_eq!((&records[1]["time"], &records[1]["data"]["header"]["packet_number"]), (&json!(10.0), &json!(7)));
        assert_eq!((&records[2]["time"], &records[2]["data"]["capacity"]), (&json!(30.0), &json!(400_000)));
    }
}
