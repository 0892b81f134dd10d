//! Events as JSON: an object for each, with the columns of `events.parquet` that it fills (docs/reference/events.md).

use std::fmt::{Display, Write};

use thalweg_sender::{Event, Timed};
use thalweg_units::Span;

use crate::clock::Clock;

/// An object under construction.
struct Object(String);

impl Object {
    fn event(&mut self, name: &str) -> &mut Object {
        self.text("event", name)
    }

    fn number(&mut self, column: &str, number: impl Display) -> &mut Object {
        let _ = write!(self.0, ",\"{column}\":{number}");
        self
    }

    /// A figure; JSON has no name for those that are not finite.
    fn value(&mut self, value: f64) -> &mut Object {
        if value.is_finite() { self.number("value", value) } else { self.number("value", "null") }
    }

    fn span(&mut self, span: Span) -> &mut Object {
        self.number("span_ns", span.as_nanos())
    }

    fn text(&mut self, column: &str, text: &str) -> &mut Object {
        let _ = write!(self.0, ",\"{column}\":\"");
        for character in text.chars() {
            let _ = match character {
                '"' | '\\' => write!(self.0, "\\{character}"),
                control if u32::from(control) < 0x20 => write!(self.0, "\\u{:04x}", u32::from(control)),
                other => self.0.write_char(other),
            };
        }
        self.0.push('"');
        self
    }
}

/// An event as an object in one line.
pub(super) fn json(timed: &Timed, clock: &Clock) -> String {
    let mut object = Object(format!("{{\"time_ns\":{}", clock.caller(timed.at)));
    fill(&mut object, &timed.event);
    object.0.push('}');
    object.0
}

fn fill(object: &mut Object, event: &Event) {
    match event {
        Event::PictureRead { picture } => object.event("picture-read").number("picture", picture),
        Event::PictureSkipped { picture, why } => {
            object.event("picture-skipped").number("picture", picture).text("why", why.text())
        }
        Event::PictureHeld { picture, why } => {
            object.event("picture-held").number("picture", picture).text("why", why.text())
        }
        Event::EncodeStarted { picture, target, size, candidates } => object
            .event("encode-started")
            .number("picture", picture)
            .number("rate_bps", target.as_bps())
            .number("count", size.height)
            .number("value", candidates),
        Event::KeyframeForced { why } => object.event("keyframe-forced").text("why", why.text()),
        Event::FrameQueued { frame, picture, size, packets, keyframe, quantizer } => object
            .event("frame-queued")
            .number("frame", frame)
            .number("picture", picture)
            .number("bytes", size.get())
            .number("count", packets)
            .number("value", quantizer)
            .text("what", if *keyframe { "keyframe" } else { "delta" }),
        Event::SchemeChanged => object.event("scheme-changed"),
        Event::PacketSent { id, payload, size, in_flight, repeats } => {
            let object = object.event("packet-sent").number("packet", id.0).text("what", payload.name());
            let object = object.number("bytes", size.get()).number("count", in_flight.get());
            if let Some(repeats) = repeats { object.number("value", repeats) } else { object }
        }
        Event::FrameSent { frame, delay } => object.event("frame-sent").number("frame", frame).span(*delay),
        Event::FrameFlushed { frame, packets } => {
            object.event("frame-flushed").number("frame", frame).number("count", packets)
        }
        Event::RecoveryBegan => object.event("recovery-began"),
        Event::Paused { age } => object.event("paused").span(*age),
        Event::Resumed { why } => object.event("resumed").text("why", why.text()),
        Event::Reset { age, packets } => object.event("reset").span(*age).number("count", packets),
        Event::SizeChanged { from, to } => {
            object.event("size-changed").number("count", to.height).number("value", from.height)
        }
        Event::Feedback { arrived, lost, rtt, in_flight } => {
            let object = object.event("feedback").number("count", arrived).number("value", lost);
            let object = if let Some(rtt) = rtt { object.span(*rtt) } else { object };
            object.number("bytes", in_flight.get())
        }
        Event::ProbeTimeout { in_flight } => object.event("probe-timeout").number("bytes", in_flight.get()),
        Event::SendLimits { window, pacing, capacity } => {
            let object =
                object.event("send-limits").number("rate_bps", capacity.as_bps()).number("value", pacing.as_bps());
            if let Some(window) = window { object.number("bytes", window.get()) } else { object }
        }
        Event::Decision(decision) => object
            .event("decision")
            .text("what", decision.what)
            .number("value", decision.from.as_bps())
            .number("rate_bps", decision.to.as_bps())
            .text("why", decision.why),
        Event::RetransmissionRefused { sequence, why } => {
            object.event("retransmission-refused").number("packet", sequence).text("why", why.text())
        }
        Event::Variable { name, value } => object.event("variable").text("what", name).value(*value),
        // A kind that the engine has and this interface does not know yet.
        _ => object.event("other"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_control::Decision;
    use thalweg_sender::Why;
    use thalweg_units::{Rate, Time};

    #[test]
    fn an_event_has_its_columns_in_the_callers_time_and_texts_are_quoted() {
        let clock = Clock::new(1_000).unwrap();
        let written = |event| json(&Timed { at: Time::from_nanos(5), event }, &clock);
        let skipped = written(Event::PictureSkipped { picture: 7, why: Why::EncoderBusy });
        assert_eq!(skipped, r#"{"time_ns":1005,"event":"picture-skipped","picture":7,"why":"the encoder is busy"}"#);
        let (from, to) = (Rate::from_bps(2), Rate::from_bps(1));
        let decision = Decision { at: Time::ZERO, what: "de\"crease", why: "a\nb\\", from, to };
        assert_eq!(
            written(Event::Decision(Box::new(decision))),
            r#"{"time_ns":1005,"event":"decision","what":"de\"crease","value":2,"rate_bps":1,"why":"a\u000ab\\"}"#
        );
        let variable = written(Event::Variable { name: "ratio", value: f64::NAN });
        assert_eq!(variable, r#"{"time_ns":1005,"event":"variable","what":"ratio","value":null}"#);
    }
}
