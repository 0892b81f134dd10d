//! From events to figures.

use std::collections::BTreeMap;

use thalweg_control::Payload;
use thalweg_link::Capacity;
use thalweg_sender::{Event, Scheme};
use thalweg_units::{Bytes, Span, Time};

use super::on_the_way::OnTheWay;
use super::sharing::available;
use crate::metrics::estimate::{self, Available};
use crate::metrics::{
    QualitySource, Summary, latency, mean_psnr, percentile, qoe_call, qoe_driving, ssim_decibels, stall,
};
use crate::outcome::{FrameRecord, Mark, Outcome, Series};
use crate::record::{Recorder, What};
use crate::scenario::Scenario;

/// The width of a bin of the series.
pub(super) const BIN_S: f64 = 0.1;

/// Amounts of data by bin.
pub(super) struct Bins(Vec<f64>);

impl Bins {
    pub(super) fn new(count: usize) -> Bins {
        Bins(vec![0.0; count])
    }

    /// For a run of this length.
    pub(super) fn over(duration: Span) -> Bins {
        Bins::new((duration.as_secs_f64() / BIN_S).ceil() as usize)
    }

    pub(super) fn add(&mut self, at: Time, size: Bytes) {
        let index = (at.as_secs_f64() / BIN_S) as usize;
        if let Some(bin) = self.0.get_mut(index) {
            *bin += size.bits() as f64 / 1e6 / BIN_S;
        }
    }

    /// In Mbps.
    pub(super) fn into_values(self) -> Vec<f64> {
        self.0
    }
}

/// What one sender did, beside the records.
#[derive(Debug, Clone, PartialEq)]
pub struct Played {
    /// Its flow's number.
    pub number: u16,
    /// What it sent, in a word.
    pub video: String,
    /// When its camera started.
    pub begin: Time,
    /// When it stopped sending.
    pub end: Time,
    /// Its encoder's settings, as it prints them.
    pub codec: String,
    /// Where the quality of its frames comes from.
    pub quality: QualitySource,
    /// What became of its pictures.
    pub frames: Vec<FrameRecord>,
}

/// The figures of what one sender of a scenario did over a path whose narrowest part was `link`.
pub fn summarize(
    scenario: &Scenario,
    scheme: &Scheme,
    played: Played,
    recorder: &Recorder,
    link: Option<&Capacity>,
) -> Outcome {
    let count = (scenario.duration.as_secs_f64() / BIN_S).ceil() as usize;
    let Played { number, video: label, begin, end: stopped, mut codec, quality, frames } = played;
    let duration = (stopped - begin).as_secs_f64();
    let (began, stopped) = (begin.as_secs_f64(), stopped.as_secs_f64());
    let (mut sent, mut video, mut filler, mut delivered) =
        (Bins::new(count), Bins::new(count), Bins::new(count), Bins::new(count));
    let (mut wire_bytes, mut filler_bytes, mut departed) = (Bytes::ZERO, Bytes::ZERO, Bytes::ZERO);
    let (mut packets, mut arrivals, mut drops) = (0u64, 0u64, 0u64);
    let mut queued_ms = Vec::new();
    let mut on_the_way = OnTheWay::new(count);
    let mut variables: BTreeMap<&'static str, Vec<(f64, f64)>> = BTreeMap::new();
    let mut marks = Vec::new();
    for record in recorder.records().filter(|record| record.flow == number) {
        let at = record.at.as_secs_f64();
        match record.what {
            What::Sender(Event::PacketSent { id, payload, size, .. }) => {
                on_the_way.sent(id.0, record.at);
                packets += 1;
                wire_bytes += size;
                sent.add(record.at, size);
                match payload {
                    Payload::Media => video.add(record.at, size),
                    Payload::Filler => {
                        filler_bytes += size;
                        filler.add(record.at, size);
                    }
                    Payload::Repair | Payload::Audio => {}
                }
            }
            What::Arrived { id, size, queued, .. } => {
                on_the_way.arrived(id, record.at);
                departed += size;
                arrivals += 1;
                delivered.add(record.at, size);
                queued_ms.push(queued.as_millis_f64());
            }
            What::Dropped { .. } => {
                drops += 1;
                marks.push((at, Mark::Drop));
            }
            What::Sender(Event::Variable { name, value }) => variables.entry(name).or_default().push((at, value)),
            What::Sender(Event::Paused { .. }) => marks.push((at, Mark::Pause)),
            What::Sender(Event::Resumed { .. }) => marks.push((at, Mark::Resume)),
            What::Sender(Event::Reset { .. }) => marks.push((at, Mark::Reset)),
            What::Sender(Event::FrameQueued { keyframe: true, .. }) => marks.push((at, Mark::Keyframe)),
            What::Sender(Event::SizeChanged { .. }) => marks.push((at, Mark::Resize)),
            _ => {}
        }
    }
    if !scenario.undershoot.is_none() {
        codec += &format!(", undershoot {}", scenario.undershoot);
    }
    let shown: Vec<f64> = frames.iter().filter_map(|frame| frame.displayed_s).collect();
    let shown_bytes: u64 = frames.iter().filter(|frame| frame.displayed_s.is_some()).map(|frame| frame.bytes).sum();
    let end = Time::ZERO + scenario.duration;
    let bin = |index: usize| Time::from_secs_f64(index as f64 * BIN_S);
    let carried = |i| link.map_or(0, |link| link.bytes(bin(i), bin(i + 1)).bits());
    let capacity_mbps = (0..count).map(|i| carried(i) as f64 / 1e6 / BIN_S).collect();
    let available_mbps: Vec<f64> = link.map(|link| available(scenario, link, number.into(), count)).unwrap_or_default();
    let estimate = estimate::accuracy(
        variables.get("capacity_bps").map_or(&[], Vec::as_slice),
        Available { mbps: &available_mbps, bin_s: BIN_S },
        began,
        (began, stopped),
    );
    let one_way_delay_mean_ms = on_the_way.mean_ms();
    variables.insert("one_way_delay_ms", on_the_way.by_bin());
    let latency = latency(&frames);
    let ssim = ssim_decibels(&frames);
    let summary = Summary {
        scheme: scheme.name.clone(),
        trace: scenario.name.clone(),
        video: label,
        seed: scenario.seed.get(),
        duration_s: duration,
        video_bitrate_bps: shown_bytes as f64 * 8.0 / duration,
        wire_bitrate_bps: wire_bytes.bits() as f64 / duration,
        filler_bitrate_bps: filler_bytes.bits() as f64 / duration,
        utilization: link.and_then(|link| link.share(departed, arrivals, Time::ZERO, end)),
        psnr_db: mean_psnr(&frames),
        ssim_db: ssim.map(|ssim| ssim.0),
        ssim_variant: scenario.ssim,
        quality,
        ssim_p25_db: ssim.map(|ssim| ssim.1),
        latency_p50_ms: latency.as_ref().map(|latency| latency.p50_ms),
        latency_p95_ms: latency.as_ref().map(|latency| latency.p95_ms),
        latency_mean_ms: latency.as_ref().map(|latency| latency.mean_ms),
        queue_delay_p95_ms: percentile(&queued_ms, 0.95),
        one_way_delay_mean_ms,
        estimate_accuracy: estimate.map(|estimate| estimate.accuracy),
        estimate_bias: estimate.map(|estimate| estimate.bias),
        frame_rate_fps: shown.len() as f64 / duration,
        stall_ratio: stall(&shown, Some(stopped)).ratio,
        packet_loss_ratio: drops as f64 / packets.max(1) as f64,
        qoe_call: latency.as_ref().zip(ssim).map(|(latency, ssim)| qoe_call(latency.mean_ms, ssim.0)),
        qoe_driving: latency.as_ref().zip(ssim).map(|(latency, ssim)| qoe_driving(latency.mean_ms, ssim.0)),
        tail_missing: latency.as_ref().map_or(frames.len() as u64, |latency| latency.tail_missing),
        events_fingerprint: format!("{:016x}", recorder.fingerprint()),
        speed_x: None,
        live: false,
        sharing: None,
        delivery: None,
        redundancy: None,
        tcp: None,
        competitors: Vec::new(),
        traffic: Vec::new(),
    };
    let series = Series {
        bin_s: BIN_S,
        capacity_mbps,
        available_mbps,
        sent_mbps: sent.0,
        video_mbps: video.0,
        filler_mbps: filler.0,
        delivered_mbps: delivered.0,
        variables: variables.into_iter().map(|(name, values)| (name.to_string(), values)).collect(),
        marks,
        others: Vec::new(),
    };
    Outcome { summary, codec, series, frames }
}
