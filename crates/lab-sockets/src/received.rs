//! Senders that `thalweg receive` has measured as runs of the laboratory: anybody's sender is a row beside our schemes.
//!
//! The sender is observed from outside alone: packets from its link, frames from the receiver. Pictures that it did not
//! encode leave no trace, so they do not count as captured.

use std::collections::BTreeMap;

use serde::Serialize;
use thalweg_codecs::Codec;
use thalweg_control::Payload;
use thalweg_emulate::{LinkConfig, Packet};
use thalweg_lab::metrics::QualitySource;
use thalweg_lab::outcome::FrameRecord;
use thalweg_lab::record::{Record, Recorder, What};
use thalweg_lab::simulate::{Played, Run, SimulateError, summarize};
use thalweg_lab::{FindTrace, Scenario};
use thalweg_live::measure::{SeenFrame, standard_decoder};
use thalweg_live::receive::{Observed, SenderReport, VideoCodec};
use thalweg_netsim::DropReason;
use thalweg_sender::Event;
use thalweg_units::{Seed, Size, Span, Time};
use thalweg_video::footage::Footage;
use thalweg_video::quality::{Ssim, psnr};
use thalweg_video::{Picture, Video, barcode, scale};

use crate::blackbox::Program;
use crate::{RealTimeError, link, packets, reason};

/// A sender that was measured.
pub struct Measured {
    /// The scenario that it was measured over.
    pub scenario: Scenario,
    /// Itself, as the sender of its run.
    pub program: Program,
    /// Figures, series and records, as of any run.
    pub run: Run,
    /// Details that only this kind of run has.
    pub details: Details,
}

/// Figures that other runs do not have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Details {
    /// How the times of its pictures are known: `sender-reports`, or `first-packet` where it sends none or its clock is
    /// not ours: latency is then from the sending of the frame's first packet, less the shortest such time of the run.
    pub captured_by: &'static str,
    /// The receiver's own counts.
    pub receiver: SenderReport,
}

/// When pictures were taken, by their RTP timestamps.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Camera {
    /// Timestamps count from this one.
    base: u32,
    /// Its time on the receiver's clock, in milliseconds.
    base_ms: f64,
    by: &'static str,
}

/// RTP timestamp ticks of video per millisecond.
const TICKS_PER_MS: f64 = 90.0;
/// A sender whose every picture seems to be older than this when its first packet leaves has another clock.
const BELIEVABLE_MS: f64 = 1000.0;
/// A program may report a later time than that of capture, such as when a thread came to the picture, but not later than
/// this: then its clock is another.
const REPORTED_LATE_MS: f64 = 50.0;

impl Camera {
    /// By the sender's reports, if these can be true, else by when frames left.
    fn of(frames: &[SeenFrame], sent: &BTreeMap<u32, packets::Sent>, wall_ms: f64) -> Option<Camera> {
        let base = *sent.iter().min_by_key(|(_, sent)| sent.first)?.0;
        let ms = |at: Time| at.as_nanos() as f64 / 1e6;
        let at_base = |timestamp: u32| f64::from(timestamp.wrapping_sub(base) as i32) / TICKS_PER_MS;
        let earliest = sent.iter().map(|(timestamp, sent)| ms(sent.first) - at_base(*timestamp));
        let by_packets = earliest.fold(f64::INFINITY, f64::min);
        let mut reported: Vec<f64> = frames
            .iter()
            .filter_map(|frame| Some(frame.captured_ms? - wall_ms - at_base(frame.timestamp as u32)))
            .collect();
        reported.sort_unstable_by(f64::total_cmp);
        let by_reports = reported.get(reported.len() / 2).copied();
        let is_true = |reported: &f64| (-REPORTED_LATE_MS..BELIEVABLE_MS).contains(&(by_packets - reported));
        Some(match by_reports.filter(is_true) {
            // Nothing is sent before it is taken.
            Some(reported) => Camera { base, base_ms: reported.min(by_packets), by: "sender-reports" },
            None => Camera { base, base_ms: by_packets, by: "first-packet" },
        })
    }

    fn taken(&self, timestamp: u32) -> Time {
        let ms = self.base_ms + f64::from(timestamp.wrapping_sub(self.base) as i32) / TICKS_PER_MS;
        Time::from_secs_f64((ms / 1e3).max(0.0))
    }
}

/// PSNR in dB and SSIM of frames, by their numbers.
type Qualities = BTreeMap<u64, (f64, f64)>;

/// The run of a sender that was measured over this link, named as in tables. `find` returns its traces. With a
/// reference, pictures that carry a number are compared with the picture of that number there, which takes as long as
/// decoding all of them again. `None` if nothing of its video came.
///
/// # Errors
/// When a trace cannot be found, or the reference not be read.
pub fn run(
    observed: &Observed,
    (config, name): (Option<&LinkConfig>, &str),
    reference: Option<&Video>,
    find: &mut FindTrace<'_>,
) -> Result<Option<Measured>, RealTimeError> {
    let Some(video) = &observed.video else { return Ok(None) };
    let kind = |packet: &Packet| match packet.payload_type {
        _ if packet.padded => Payload::Padding,
        number if number == video.payload_type => Payload::Media,
        number if video.redundancy.is_some_and(|types| types.red == number) => Payload::Media,
        number if video.retransmission == Some(number) || video.fec == Some(number) => Payload::Repair,
        number if video.redundancy.is_some_and(|types| types.retransmission == Some(number)) => Payload::Repair,
        _ => Payload::Audio,
    };
    let sent = packets::by_timestamp(&observed.packets, kind, observed.tag);
    let Some(camera) = Camera::of(&observed.frames, &sent, observed.wall_ms) else { return Ok(None) };
    let duration = observed.end - observed.zero;
    if duration <= Span::ZERO {
        return Ok(None);
    }
    let codec = video.codec.name();
    let scenario = Scenario {
        duration,
        seed: config.map_or(Seed::new(1), |config| config.seed),
        video: Video { source: "what it sends".into(), ..Video::scene(Size::HD, 30) },
        // A build without this codec has no name for it.
        codec: codec.to_lowercase().parse().unwrap_or(Codec::Model(Default::default())),
        forward: config.map(|config| config.up.clone()).unwrap_or_default(),
        reverse: config.map(|config| config.down.clone()).unwrap_or_default(),
        ..Scenario::over(name)
    };
    let capacity = link(&scenario, find)?.1;
    let why = observed.link.as_ref().map_or(DropReason::Lost, reason);
    let size = observed.frames.iter().filter_map(|frame| frame.size).max_by_key(|size| size.pixels());
    let size = size.unwrap_or(Size::HD);
    let qualities = match reference {
        Some(reference) => qualities(observed, video.codec, reference)?,
        None => Qualities::new(),
    };
    let (recorder, frames) = records(observed, (kind, why), &sent, (camera, size), &qualities);
    let played = Played {
        number: 0,
        video: "what it sends".into(),
        size,
        turns_after: None,
        begin: Time::ZERO,
        end: Time::ZERO + duration,
        codec: codec.into(),
        feedback: None,
        quality: if reference.is_some() { QualitySource::Measured } else { QualitySource::None },
        frames,
        screen: Vec::new(),
        vmaf_tool: None,
        choices: None,
        camera_off: Vec::new(),
        machine_dependent: false,
        notes: Vec::new(),
    };
    let report = &observed.report;
    let mut outcome = summarize(&scenario, &report.name, played, &recorder, &(&capacity).into());
    outcome.summary.live = true;
    let feedback = report.received.feedback.as_deref().unwrap_or("plain");
    let program = Program {
        name: report.name.clone(),
        version: report.name.clone(),
        settings: format!("codec = {codec:?}\nfeedback = {feedback:?}\n"),
    };
    let details = Details { captured_by: camera.by, receiver: report.clone() };
    let (competitors, reports_dropped) = (Vec::new(), Vec::new());
    Ok(Some(Measured { scenario, program, run: Run { outcome, competitors, recorder, reports_dropped }, details }))
}

/// Decodes all frames again, and compares the pictures that carry a number with those of the reference, on which the
/// number is drawn too. A picture of another size is scaled to the reference's.
fn qualities(observed: &Observed, codec: VideoCodec, reference: &Video) -> Result<Qualities, RealTimeError> {
    let mut found = Qualities::new();
    let Some(mut decoder) = standard_decoder(codec).map_err(|error| RealTimeError::Failed(error.to_string()))? else {
        return Ok(found);
    };
    let mut footage = Footage::open(reference, Seed::new(1)).map_err(SimulateError::from)?;
    for frame in observed.frames.iter().filter(|frame| !frame.data.is_empty()) {
        // What could not be decoded when it came cannot be decoded now.
        let Ok(Some(decoded)) = decoder.decode(&frame.data) else { continue };
        let Some(number) = frame.number else { continue };
        let Some(source) = footage.picture(number).map_err(SimulateError::from)? else { continue };
        let mut source = Picture::clone(&source);
        barcode::draw(&mut source, number);
        let shown = scale(&decoded, source.size());
        found.insert(frame.frame, (psnr(&source, &shown), Ssim::Window.measure(&source, &shown)));
    }
    Ok(found)
}

/// Packets and frames as records, in time since the link's zero.
fn records(
    observed: &Observed,
    (kind, why): (impl Fn(&Packet) -> Payload, DropReason),
    sent: &BTreeMap<u32, packets::Sent>,
    (camera, size): (Camera, Size),
    qualities: &Qualities,
) -> (Recorder, Vec<FrameRecord>) {
    let since = |at: Time| Time::ZERO + (at - observed.zero).max(Span::ZERO);
    let mut records: Vec<Record> = Vec::new();
    let mut note = |at: Time, what: What| records.push(Record { at: since(at), flow: 0, what });
    packets::note(&observed.packets, kind, why, &mut note);
    let seen: BTreeMap<u32, &SeenFrame> = observed.frames.iter().map(|frame| (frame.timestamp as u32, frame)).collect();
    let mut in_order: Vec<(u32, packets::Sent)> = sent.iter().map(|(timestamp, sent)| (*timestamp, *sent)).collect();
    in_order.sort_by_key(|(timestamp, _)| timestamp.wrapping_sub(camera.base) as i32);
    let mut height = None;
    let mut frames = Vec::new();
    for (number, (timestamp, sent)) in (0..).zip(in_order) {
        let taken = camera.taken(timestamp);
        let mut record = FrameRecord::read(since(taken), size);
        record.queued_s = Some(since(sent.first).as_secs_f64());
        record.sent_s = Some(since(sent.last).as_secs_f64());
        record.bytes = sent.bytes.get();
        let found = seen.get(&timestamp);
        record.keyframe = found.is_some_and(|seen| seen.keyframe);
        let queued = Event::FrameQueued {
            frame: number,
            picture: number,
            size: sent.bytes,
            packets: sent.packets,
            keyframe: record.keyframe,
            quantizer: u8::MAX,
        };
        note(sent.first, What::Sender(queued));
        note(sent.last, What::Sender(Event::FrameSent { frame: number, delay: sent.last - sent.first }));
        if let Some((seen, at)) = found.and_then(|seen| Some((seen, seen.shown?))) {
            record.displayed_s = Some(since(at).as_secs_f64());
            let shown = seen.size.unwrap_or(size);
            record.height = shown.height;
            if let Some(from) = height.replace(shown).filter(|from| *from != shown) {
                note(at, What::Sender(Event::SizeChanged { from, to: shown }));
            }
            let quality = qualities.get(&seen.frame);
            (record.psnr_db, record.ssim) = quality.copied().unzip();
            let (latency, psnr) = (at - taken, record.psnr_db.unwrap_or(f64::NAN));
            note(at, What::Displayed { frame: number, picture: number, latency, psnr });
        }
        frames.push(record);
    }
    let end = Time::ZERO + (observed.end - observed.zero);
    records.retain(|record| record.at < end);
    records.sort_by_key(|record| record.at);
    let mut recorder = Recorder::default();
    records.into_iter().for_each(|record| recorder.push(record));
    (recorder, frames)
}

#[cfg(test)]
mod tests {
    use thalweg_units::Bytes;

    use super::*;

    /// A frame of each timestamp that left so many milliseconds after the receiver's clock began.
    fn sent(times: &[(u32, u64)]) -> BTreeMap<u32, packets::Sent> {
        let one = |(timestamp, millis): &(u32, u64)| {
            let at = Time::from_millis(*millis);
            (*timestamp, packets::Sent { first: at, last: at, bytes: Bytes::new(1000), packets: 1 })
        };
        times.iter().map(one).collect()
    }

    fn seen(timestamp: u64, captured_ms: Option<f64>) -> SeenFrame {
        SeenFrame {
            frame: 0,
            timestamp,
            captured_ms,
            received: Time::ZERO,
            shown: None,
            size: None,
            bytes: 1000,
            keyframe: false,
            number: None,
            data: Vec::new(),
        }
    }

    /// Two frames 100 ms apart whose timestamps wrap around; the second was encoded for 20 ms longer.
    fn two() -> BTreeMap<u32, packets::Sent> {
        sent(&[(u32::MAX - 899, 500), (8100, 620)])
    }

    #[test]
    fn sender_reports_say_when_a_picture_was_taken() {
        let frames = [seen(0x1_ffff_fc7c, None), seen(0x2_0000_1fa4, Some(1e9 + 590.0))];
        let camera = Camera::of(&frames, &two(), 1e9).unwrap();
        assert_eq!(camera.by, "sender-reports");
        assert_eq!([camera.taken(u32::MAX - 899), camera.taken(8100)], [490, 590].map(Time::from_millis));
    }

    #[test]
    fn what_left_was_taken_before_whatever_is_reported() {
        let frames = [seen(0x2_0000_1fa4, Some(1e9 + 630.0))];
        let camera = Camera::of(&frames, &two(), 1e9).unwrap();
        assert_eq!((camera.by, camera.taken(8100)), ("sender-reports", Time::from_millis(600)));
    }

    #[test]
    fn a_clock_that_is_not_ours_is_not_believed() {
        for offset_ms in [60_000.0, -60_000.0] {
            let frames = [seen(0x2_0000_1fa4, Some(1e9 + 590.0 + offset_ms))];
            let camera = Camera::of(&frames, &two(), 1e9).unwrap();
            assert_eq!(camera.by, "first-packet");
            assert_eq!([camera.taken(u32::MAX - 899), camera.taken(8100)], [500, 600].map(Time::from_millis));
        }
    }
}
