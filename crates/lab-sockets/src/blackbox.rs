//! Calls of real programs as runs of the laboratory: a browser is a row beside our schemes.
//!
//! A program is observed from outside alone: packets from the relay, pictures from the barcodes at both ends, estimate
//! and target from `getStats` once a second. So the events have no decisions, and a frame's bytes are those of its RTP
//! packets, by their timestamp.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde::Serialize;
use serde_json::{Map, Value, json};
use thalweg_control::Payload;
use thalweg_emulate::LinkConfig;
use thalweg_lab::metrics::QualitySource;
use thalweg_lab::outcome::FrameRecord;
use thalweg_lab::record::{Record, Recorder, What};
use thalweg_lab::simulate::{Played, Run, summarize};
use thalweg_lab::{FindTrace, Scenario};
use thalweg_live::blackbox::{CameraFile, Driver, Identity, Observed, Packet, Report, Validity, measure};
use thalweg_netsim::DropReason;
use thalweg_sender::{Event, Parts, SenderFactory};
use thalweg_units::{Bytes, ConfigError, Size, Time, percentile};

use crate::{RealTimeError, link, packets, reason};

/// A program that was measured, as the sender of its run.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its name in tables.
    pub name: String,
    /// Program's name, with its version.
    pub version: String,
    /// Its settings, as TOML.
    pub settings: String,
}

impl SenderFactory for Program {
    fn name(&self) -> &str {
        &self.name
    }

    fn parts(&self, _: Size) -> Result<Parts, ConfigError> {
        Err(ConfigError::out_of_range("the scheme", &self.name, "one of ours: `thalweg blackbox` plays other programs"))
    }

    fn describe(&self) -> String {
        format!("version = {:?}\n{}", self.version, self.settings)
    }
}

/// A measured call.
pub struct Call {
    /// Figures, series and records, as of any run.
    pub run: Run,
    /// How well the machine kept up.
    pub validity: Validity,
    /// Details that only this kind of run has.
    pub details: Details,
}

/// Figures of a call that other runs do not have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Details {
    /// The program with its version.
    pub program: String,
    /// The encoder, as `getStats` names it.
    pub encoder: Option<String>,
    /// The decoder.
    pub decoder: Option<String>,
    /// Latency from capture to what the browser states as presentation: median, in ms.
    pub presented_p50_ms: Option<f64>,
    /// 95th percentile of that, in ms.
    pub presented_p95_ms: Option<f64>,
    /// Share of the decoded frames for which the browser called the page.
    pub presented_ratio: Option<f64>,
    /// Freezes, as the receiver counts them.
    pub freezes: Option<f64>,
    /// Their duration, in seconds.
    pub freeze_s: Option<f64>,
    /// The mean quantiser, in the codec's scale.
    pub quantizer_mean: Option<f64>,
    /// Keyframes encoded.
    pub keyframes: Option<f64>,
    /// Both programs' `getStats` each second.
    pub statistics: Vec<Value>,
}

/// Measures a call of `driver` over the scenario's link, for as long as it lasts; takes a few seconds longer. `find` returns
/// traces by name; `progress` receives the time since the first packet.
///
/// # Errors
/// When the link cannot be built, or the call fails.
pub fn call(
    scenario: &Scenario,
    (driver, program): (&dyn Driver, &Program),
    camera: &CameraFile,
    find: &mut FindTrace<'_>,
    progress: &mut dyn FnMut(Time) -> ControlFlow<()>,
) -> Result<Call, RealTimeError> {
    // Each attempt finds the traces anew, as each run does.
    let (link, capacity) = link(scenario, find)?;
    let mut found = |name: &str| link.traces.get(name).cloned().ok_or_else(|| format!("no trace '{name}'"));
    let config: &LinkConfig = &link.config;
    let observed = measure(driver, camera, (config, scenario.duration), &mut found, progress)?;
    let converted = Converted::of(&observed, reason(&observed.link));
    let last = |key| observed.seen.sender.last()?.text("rtp", key).map(str::to_owned);
    let encoder = last("encoderImplementation");
    let codec = observed.seen.sender.last().and_then(|report| report.text("codec", "mimeType")).unwrap_or("video");
    let layers = last("scalabilityMode").map_or(String::new(), |mode| format!(" {mode}"));
    let played = Played {
        number: 0,
        video: scenario.video.label(),
        size: observed.format.size,
        turns_after: None,
        begin: Time::ZERO,
        end: Time::ZERO + scenario.duration,
        codec: format!(
            "{} {}{layers}",
            encoder.as_deref().unwrap_or("an encoder of"),
            codec.trim_start_matches("video/")
        ),
        feedback: None,
        quality: QualitySource::None,
        frames: converted.frames,
        screen: Vec::new(),
        vmaf_tool: None,
        choices: None,
        camera_off: Vec::new(),
        machine_dependent: false,
        notes: Vec::new(),
    };
    let mut outcome = summarize(scenario, &program.name, played, &converted.recorder, &(&capacity).into());
    outcome.summary.live = true;
    let details = Details { program: program.version.clone(), encoder, ..converted.details };
    let (competitors, reports_dropped) = (Vec::new(), Vec::new());
    let run = Run { outcome, competitors, recorder: converted.recorder, reports_dropped };
    Ok(Call { run, validity: Validity::of(&observed), details })
}

/// A call as records of the laboratory, in time since its first packet.
struct Converted {
    recorder: Recorder,
    frames: Vec<FrameRecord>,
    details: Details,
}

impl Converted {
    fn of(observed: &Observed, why: DropReason) -> Converted {
        let since = |at: Time| Time::ZERO + (at - observed.zero);
        let within = |at: Time| at >= observed.zero && at < observed.zero + observed.duration;
        let identity = Identity::of(&observed.captured, &observed.received, observed.format.interval());
        // The first picture that counts; earlier ones were taken before the call.
        let begin = identity.taken().position(|at| at >= observed.zero).unwrap_or(identity.taken().len());
        let taken: Vec<Time> = identity.taken().skip(begin).take_while(|at| within(*at)).collect();
        let picture = |place: Option<usize>| place?.checked_sub(begin).filter(|picture| *picture < taken.len());
        let mut frames: Vec<FrameRecord> =
            taken.iter().map(|at| FrameRecord::read(since(*at), observed.format.size)).collect();
        let mut records: Vec<Record> = Vec::new();
        let mut note = |at: Time, what: What| records.push(Record { at: since(at), flow: 0, what });
        let kind = |packet: &Packet| payload(packet, &observed.seen.retransmissions);
        packets::note(&observed.packets, kind, why, &mut note);
        let mut queued: Vec<(Time, usize, packets::Sent)> = Vec::new();
        for (timestamp, sent) in
            packets::by_timestamp(&observed.packets, kind, authentication_tag(observed.seen.sender.last()))
        {
            let Some(picture) = picture(identity.at(timestamp)) else { continue };
            let record = &mut frames[picture];
            record.queued_s = Some(since(sent.first).as_secs_f64());
            record.sent_s = Some(since(sent.last).as_secs_f64());
            record.bytes = sent.bytes.get();
            queued.push((sent.first, picture, sent));
        }
        queued.sort_by_key(|(at, picture, _)| (*at, *picture));
        let mut frame_of: BTreeMap<usize, u64> = BTreeMap::new();
        for (frame, (at, picture, sent)) in (0..).zip(&queued) {
            frame_of.insert(*picture, frame);
            let (size, packets) = (sent.bytes, sent.packets);
            // SRTP hides what kind of frame it is.
            let event = Event::FrameQueued {
                frame,
                picture: *picture as u64,
                size,
                packets,
                keyframe: false,
                quantizer: u8::MAX,
            };
            note(*at, What::Sender(event));
            note(sent.last, What::Sender(Event::FrameSent { frame, delay: sent.last - sent.first }));
        }
        let mut height = None;
        for seen in observed.received.iter().filter(|seen| within(seen.at)) {
            let Some(picture) = picture(identity.shown(seen)) else { continue };
            let record = &mut frames[picture];
            if record.displayed_s.is_some() {
                continue;
            }
            record.displayed_s = Some(since(seen.at).as_secs_f64());
            record.height = seen.size().height;
            let before = height.replace(seen.size());
            if let Some(from) = before.filter(|from| *from != seen.size()) {
                note(seen.at, What::Sender(Event::SizeChanged { from, to: seen.size() }));
            }
            let (latency, frame) = (seen.at - taken[picture], frame_of.get(&picture).copied().unwrap_or_default());
            note(seen.at, What::Displayed { frame, picture: picture as u64, latency, psnr: f64::NAN });
        }
        variables(observed, &mut note);
        let end = Time::ZERO + observed.duration;
        records.retain(|record| record.at < end);
        records.sort_by_key(|record| record.at);
        let mut recorder = Recorder::default();
        records.into_iter().for_each(|record| recorder.push(record));
        let at = |timestamp| picture(identity.at(timestamp)).map(|picture| taken[picture]);
        Converted { recorder, frames, details: details(observed, at) }
    }
}

/// Purpose of a packet, as far as its header says: FEC in RED looks like media.
fn payload(packet: &Packet, retransmissions: &[u8]) -> Payload {
    if packet.padded {
        Payload::Padding
    } else if retransmissions.contains(&packet.payload_type) {
        Payload::Repair
    } else {
        Payload::Media
    }
}

/// Bytes that SRTP appends to a packet: 16 with GCM (RFC 7714 section 13.2), else 10 (RFC 3711 section 5.2).
fn authentication_tag(report: Option<&Report>) -> Bytes {
    let cipher = report.and_then(|report| report.text("transport", "srtpCipher")).unwrap_or_default();
    Bytes::new(if cipher.contains("GCM") { 16 } else { 10 })
}

/// The sender's estimate, target, quantiser and round trip, as `getStats` has them.
fn variables(observed: &Observed, note: &mut impl FnMut(Time, What)) {
    let mut before: Option<&Report> = None;
    for report in observed.seen.sender.iter().filter(|report| report.at >= observed.zero) {
        let grown = |key: &str| Some(report.number("rtp", key)? - before?.number("rtp", key)?);
        let quantizer = grown("framesEncoded").filter(|frames| *frames > 0.0).zip(grown("qpSum"));
        for (name, value) in [
            ("capacity_bps", report.number("pair", "availableOutgoingBitrate")),
            ("target_bps", report.number("rtp", "targetBitrate")),
            ("rtt_ms", report.number("pair", "currentRoundTripTime").map(|seconds| seconds * 1e3)),
            ("quantizer", quantizer.map(|(frames, sum)| sum / frames)),
        ] {
            if let Some(value) = value {
                note(report.at, What::Sender(Event::Variable { name, value }));
            }
        }
        before = Some(report);
    }
}

/// Figures that only this kind of run has; `at` says when the picture of a timestamp was taken.
fn details(observed: &Observed, at: impl Fn(u32) -> Option<Time>) -> Details {
    let within = |time: Time| time >= observed.zero && time < observed.zero + observed.duration;
    let presented = observed.seen.receiver.iter().flat_map(|report| &report.presented);
    let presented: Vec<_> = presented.filter(|presented| within(presented.at)).collect();
    let latency = |each: &&_| {
        let thalweg_live::blackbox::Presented { at: shown, rtp } = **each;
        Some((shown - at(rtp?)?).as_millis_f64())
    };
    let latencies: Vec<f64> = presented.iter().filter_map(latency).collect();
    let decoded = observed.received.iter().filter(|frame| within(frame.at)).count();
    let (sender, receiver) = (observed.seen.sender.last(), observed.seen.receiver.last());
    let number = |report: Option<&Report>, key: &str| report?.number("rtp", key);
    let frames = number(sender, "framesEncoded").filter(|frames| *frames > 0.0);
    let each = |(part, reports): (&str, &Vec<Report>)| -> Vec<Value> {
        let line = |report: &Report| {
            let mut line = Map::from_iter([("part".to_owned(), json!(part))]);
            line.insert("at_s".into(), json!((report.at - observed.zero).as_secs_f64()));
            line.extend(report.statistics.clone());
            Value::Object(line)
        };
        reports.iter().map(line).collect()
    };
    let both = [("sender", &observed.seen.sender), ("receiver", &observed.seen.receiver)];
    Details {
        program: String::new(),
        encoder: None,
        decoder: receiver.and_then(|report| report.text("rtp", "decoderImplementation")).map(str::to_owned),
        presented_p50_ms: percentile(&latencies, 0.5),
        presented_p95_ms: percentile(&latencies, 0.95),
        presented_ratio: (decoded > 0).then(|| presented.len() as f64 / decoded as f64),
        freezes: number(receiver, "freezeCount"),
        freeze_s: number(receiver, "totalFreezesDuration"),
        quantizer_mean: number(sender, "qpSum").zip(frames).map(|(sum, frames)| sum / frames),
        keyframes: number(sender, "keyFramesEncoded"),
        statistics: both.into_iter().flat_map(each).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_emulate::Statistics;
    use thalweg_live::blackbox::{Seen, SeenPicture};
    use thalweg_units::Span;
    use thalweg_video::source::Format;

    const INTERVAL_MS: u64 = 40;
    /// Payload types of VP8 and of its retransmissions.
    const TYPES: [u8; 2] = [96, 97];

    fn seen(number: u64, at_ms: u64, rtp: Option<u32>) -> SeenPicture {
        let value = json!({ "number": number, "at": at_ms, "timestamp": 1000.0 * at_ms as f64, "rtp": rtp, "width": 640, "height": 360 });
        serde_json::from_value(value).unwrap()
    }

    /// The timestamp of the picture taken at this time.
    fn timestamp(at_ms: u64) -> u32 {
        (u32::MAX - 90 * 500).wrapping_add(90 * at_ms as u32)
    }

    fn packet(sent_ms: u64, arrived_ms: Option<u64>, taken_ms: u64) -> Packet {
        Packet {
            sent: Time::from_millis(sent_ms),
            arrived: arrived_ms.map(Time::from_millis),
            size: Bytes::new(1_000),
            payload: Bytes::new(910),
            payload_type: TYPES[0],
            timestamp: timestamp(taken_ms),
            padded: false,
        }
    }

    fn report(at_ms: u64, rtp: Value) -> Report {
        let value = json!({ "at": at_ms, "pictures": [], "presented": [{ "at": 300, "rtp": timestamp(240) }], "statistics": {
            "rtp": rtp, "pair": { "availableOutgoingBitrate": 1.5e6, "currentRoundTripTime": 0.08 },
            "transport": { "srtpCipher": "AES_CM_128_HMAC_SHA1_80" } } });
        serde_json::from_value(value).unwrap()
    }

    /// Pictures each 40 ms from the start; time zero is 200 ms, the end 600 ms. The picture of 240 ms takes two packets and a
    /// retransmission, that of 280 ms is lost, that of 320 ms is a single packet.
    fn observed() -> Observed {
        let captured = (0..20).map(|number| seen(number, INTERVAL_MS * number, None)).collect();
        let received = [(6, 295), (8, 390)].map(|(number, at)| seen(number, at, Some(timestamp(INTERVAL_MS * number))));
        let padding = Packet { padded: true, payload_type: TYPES[1], ..packet(270, Some(310), 240) };
        let again = Packet { payload_type: TYPES[1], ..packet(265, Some(305), 240) };
        let packets = vec![
            packet(250, Some(280), 240),
            packet(251, Some(290), 240),
            again,
            padding,
            packet(290, None, 280),
            packet(330, Some(370), 320),
            packet(590, None, 560),
        ];
        let sender = vec![
            report(300, json!({ "framesEncoded": 2, "qpSum": 60, "targetBitrate": 1.2e6 })),
            report(500, json!({ "framesEncoded": 4, "qpSum": 160, "targetBitrate": 1.3e6, "keyFramesEncoded": 1 })),
        ];
        let receiver = vec![report(500, json!({ "freezeCount": 2, "totalFreezesDuration": 0.5 }))];
        Observed {
            zero: Time::from_millis(200),
            duration: Span::from_millis(400),
            format: Format { size: Size::new(640, 360), frame_rate: (25, 1) },
            captured,
            received: received.into(),
            seen: Seen { sender, receiver, retransmissions: vec![TYPES[1]] },
            packets,
            link: Statistics::default(),
            idle: 0.5,
        }
    }

    #[test]
    fn a_call_is_made_of_its_packets_and_pictures_in_time_since_its_first_packet() {
        let Converted { recorder, frames, details } = Converted::of(&observed(), DropReason::QueueFull);
        // Taken at 200 to 560 ms.
        assert_eq!(frames.len(), 10);
        let near = |value: Option<f64>, wanted: f64| value.is_some_and(|value| (value - wanted).abs() < 1e-9);
        let first = &frames[1];
        assert!(near(Some(first.captured_s), 0.04) && near(first.queued_s, 0.05) && near(first.sent_s, 0.051));
        assert!(near(first.displayed_s, 0.095), "{first:?}");
        assert_eq!((first.bytes, first.height), (1_800, 360));
        assert!(frames[2].displayed_s.is_none() && frames[2].bytes == 900, "{:?}", frames[2]);
        assert!(near(frames[3].displayed_s, 0.19));
        assert!(frames[0].queued_s.is_none());

        let mut fates = Vec::new();
        for record in recorder.records() {
            match &record.what {
                What::Sender(Event::PacketSent { id, payload, .. }) => fates.push((id.0, format!("{payload:?}"))),
                What::Dropped { id, why, .. } => fates.push((*id, format!("{why:?} at {}", record.at.as_millis()))),
                _ => {}
            }
        }
        let fates: Vec<(u64, &str)> = fates.iter().map(|(id, fate)| (*id, fate.as_str())).collect();
        let expected = [
            (0, "Media"),
            (1, "Media"),
            (2, "Repair"),
            (3, "Padding"),
            (4, "Media"),
            (5, "Media"),
            // Its successor arrived 370 ms after the clock's start; the last packet may still be on the link.
            (4, "QueueFull at 170"),
            (6, "Media"),
        ];
        assert_eq!(fates, expected);
        assert_eq!((details.freezes, details.keyframes, details.presented_p50_ms), (Some(2.0), Some(1.0), Some(60.0)));
    }

    #[test]
    fn estimate_target_and_quantiser_are_those_of_getstats() {
        let Converted { recorder, .. } = Converted::of(&observed(), DropReason::Lost);
        let variables: Vec<(u64, &str, f64)> = recorder
            .records()
            .filter_map(|record| match record.what {
                What::Sender(Event::Variable { name, value }) => Some((record.at.as_millis(), name, value)),
                _ => None,
            })
            .collect();
        let expected = [
            (100, "capacity_bps", 1.5e6),
            (100, "target_bps", 1.2e6),
            (100, "rtt_ms", 80.0),
            (300, "capacity_bps", 1.5e6),
            (300, "target_bps", 1.3e6),
            (300, "rtt_ms", 80.0),
            (300, "quantizer", 50.0),
        ];
        assert_eq!(variables, expected);
    }

    #[test]
    fn a_frames_bytes_are_without_what_srtp_appends() {
        let tag = |cipher: &str| {
            let mut report = report(300, json!({}));
            report.statistics.insert("transport".into(), json!({ "srtpCipher": cipher }));
            authentication_tag(Some(&report)).get()
        };
        assert_eq!([tag("AEAD_AES_128_GCM"), tag("AES_CM_128_HMAC_SHA1_80")], [16, 10]);
    }

    #[test]
    fn a_program_is_described_and_cannot_be_played_in_virtual_time() {
        let program =
            Program { name: "chromium".into(), version: "Chromium \"1\"".into(), settings: "codec = \"vp8\"\n".into() };
        assert_eq!(program.describe(), "version = \"Chromium \\\"1\\\"\"\ncodec = \"vp8\"\n");
        assert!(program.parts(Size::HD).err().unwrap().to_string().contains("thalweg blackbox"));
    }
}
