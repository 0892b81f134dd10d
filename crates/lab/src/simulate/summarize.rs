//! Computes figures from events.

use thalweg_sender::FeedbackStyle;
use thalweg_units::{Size, Span, Time, percentile};
use thalweg_video::quality::ssim_db;

use super::capacity::FlowCapacity;
use super::sharing::available;
use crate::metrics::estimate::{self, Available};
use crate::metrics::{
    Choices, Due, QualitySource, SCHEMA_VERSION, Summary, displays, in_time, interval, latency, mean, mean_psnr,
    qoe_call, qoe_driving, ssim_decibels, stall,
};
use crate::outcome::{FrameRecord, OnScreen, Outcome, Quality, Series};
use crate::record::{BIN_S, Recorder, Tally};
use crate::scenario::Scenario;

/// Results of one sender, in addition to the records.
#[derive(Debug, Clone, PartialEq)]
pub struct Played {
    /// Its flow's number.
    pub number: u16,
    /// The name of its video.
    pub video: String,
    /// The size of its pictures.
    pub size: Size,
    /// The length of its clip, if that was played again and again.
    pub turns_after: Option<Span>,
    /// When its camera started.
    pub begin: Time,
    /// When it stopped sending.
    pub end: Time,
    /// Its encoder's settings, as it prints them.
    pub codec: String,
    /// The reports of its receiver, if they are of a style known here.
    pub feedback: Option<FeedbackStyle>,
    /// The origin of its quality figures.
    pub quality: QualitySource,
    /// The outcome of its captured frames.
    pub frames: Vec<FrameRecord>,
    /// Pictures on the screen at each of the camera's times, if they were compared.
    pub screen: Vec<OnScreen>,
    /// The program and the model of VMAF, if it was computed.
    pub vmaf_tool: Option<String>,
    /// Which candidates were sent, where there was a choice.
    pub choices: Option<Choices>,
    /// True if the sender's decisions depend on the machine ([`thalweg_sender::SenderFactory::is_machine_dependent`]).
    pub machine_dependent: bool,
    /// When the camera was off, in order.
    pub camera_off: Vec<(Time, Time)>,
    /// Settings of the scenario without effect on it, and why.
    pub notes: Vec<String>,
}

/// The outcome of one sender of a scenario with this scheme, over a way with the capacity of `link`.
pub fn summarize(
    scenario: &Scenario,
    scheme: &str,
    played: Played,
    recorder: &Recorder,
    link: &FlowCapacity<'_>,
) -> Outcome {
    let count = (scenario.duration.as_secs_f64() / BIN_S).ceil() as usize;
    let nothing = Tally::default();
    let tally = recorder.tally(played.number).unwrap_or(&nothing);
    let Played {
        number,
        video: label,
        size,
        turns_after,
        begin,
        end: stopped,
        mut codec,
        feedback,
        quality,
        frames,
        screen,
        vmaf_tool,
        choices,
        machine_dependent,
        camera_off,
        notes,
    } = played;
    let duration = (stopped - begin).as_secs_f64();
    let (began, stopped) = (begin.as_secs_f64(), stopped.as_secs_f64());
    let Tally { sent, video, padding, delivered, wire_bytes, padding_bytes, delivered_bytes, .. } = tally;
    let mut variables = tally.variables.clone();
    if !scenario.undershoot.is_none() {
        codec += &format!(", undershoot {}", scenario.undershoot);
    }
    let camera_off: Vec<(f64, f64)> =
        camera_off.iter().map(|(from, until)| (from.as_secs_f64(), until.as_secs_f64().min(stopped))).collect();
    let interval = interval(frames.iter().map(|frame| frame.captured_s));
    let due = Due { begin: began, end: stopped, interval, off: &camera_off };
    let shown: Vec<f64> = frames.iter().filter_map(|frame| frame.displayed_s).collect();
    let shown_bytes: u64 = frames.iter().filter(|frame| frame.displayed_s.is_some()).map(|frame| frame.bytes).sum();
    let end = Time::ZERO + scenario.duration;
    let bin = |index: usize| Time::from_secs_f64(index as f64 * BIN_S);
    let capacity_mbps = (0..count).map(|i| link.bytes(bin(i), bin(i + 1)).bits() as f64 / 1e6 / BIN_S).collect();
    let available_mbps = if link.is_known() { available(scenario, link, number.into(), count) } else { Vec::new() };
    let estimate = estimate::accuracy(
        variables.get("capacity_bps").map_or(&[], Vec::as_slice),
        Available { mbps: &available_mbps, bin_s: BIN_S },
        began,
        (began, stopped),
    );
    let one_way_delay_mean_ms = tally.on_the_way.mean_ms(count);
    variables.insert("one_way_delay_ms", tally.on_the_way.by_bin(count));
    let latency = latency(&frames);
    let ssim = ssim_decibels(&frames);
    let on_screen = |of: fn(&Quality) -> Option<f64>| mean(screen.iter().filter_map(|seen| of(&seen.quality)));
    let summary = Summary {
        schema_version: SCHEMA_VERSION,
        version: env!("CARGO_PKG_VERSION").to_string(),
        scheme: scheme.to_string(),
        trace: scenario.name.clone(),
        video: label,
        video_size: size.to_string(),
        video_turns_after_s: turns_after.map(Span::as_secs_f64),
        codec: codec.clone(),
        feedback,
        seed: scenario.seed.get(),
        duration_s: duration,
        video_bitrate_bps: shown_bytes as f64 * 8.0 / duration,
        wire_bitrate_bps: wire_bytes.bits() as f64 / duration,
        padding_bitrate_bps: padding_bytes.bits() as f64 / duration,
        utilization: link.share(*delivered_bytes, tally.arrivals, Time::ZERO, end),
        psnr_db: mean_psnr(&frames),
        ssim_db: ssim.map(|ssim| ssim.0),
        ssim_variant: scenario.ssim,
        quality,
        ssim_p25_db: ssim.map(|ssim| ssim.1),
        ms_ssim: mean(frames.iter().filter_map(|frame| frame.ms_ssim)),
        vmaf: mean(frames.iter().filter_map(|frame| frame.vmaf)),
        screen_psnr_db: on_screen(|quality| Some(quality.psnr_db)),
        screen_ssim_db: on_screen(|quality| Some(quality.ssim)).map(ssim_db),
        screen_ms_ssim: on_screen(|quality| quality.ms_ssim),
        screen_vmaf: on_screen(|quality| quality.vmaf),
        vmaf_tool,
        latency_p50_ms: latency.as_ref().map(|latency| latency.p50_ms),
        latency_p95_ms: latency.as_ref().map(|latency| latency.p95_ms),
        latency_mean_ms: latency.as_ref().map(|latency| latency.mean_ms),
        queue_delay_p95_ms: percentile(&tally.queued_ms, 0.95),
        one_way_delay_mean_ms,
        estimate_accuracy: estimate.map(|estimate| estimate.accuracy),
        estimate_bias: estimate.map(|estimate| estimate.bias),
        frame_rate_fps: due.rate(shown.len() as u64).unwrap_or(0.0),
        shown_fps: due.rate(displays(&shown)),
        in_time_ratio: in_time(&frames, stopped),
        stall_ratio: stall(&shown, &due).ratio,
        packet_loss_ratio: tally.drops as f64 / tally.packets.max(1) as f64,
        qoe_call: latency.as_ref().zip(ssim).map(|(latency, ssim)| qoe_call(latency.mean_ms, ssim.0)),
        qoe_driving: latency.as_ref().zip(ssim).map(|(latency, ssim)| qoe_driving(latency.mean_ms, ssim.0)),
        tail_missing: latency.as_ref().map_or(frames.len() as u64, |latency| latency.tail_missing),
        events_fingerprint: format!("{:016x}", recorder.fingerprint()),
        speed_x: None,
        live: false,
        machine_dependent,
        sharing: None,
        delivery: None,
        redundancy: None,
        choices,
        tcp: None,
        competitors: Vec::new(),
        traffic: Vec::new(),
        bound_share: None,
        notes,
    };
    let series = Series {
        bin_s: BIN_S,
        capacity_mbps,
        available_mbps,
        sent_mbps: sent.values(count),
        video_mbps: video.values(count),
        padding_mbps: padding.values(count),
        delivered_mbps: delivered.values(count),
        variables: variables.into_iter().map(|(name, values)| (name.to_string(), values)).collect(),
        marks: tally.marks.clone(),
        camera_off,
        others: Vec::new(),
    };
    Outcome {
        summary,
        codec,
        series,
        frames,
        screen,
        queue_delay_percentiles_ms: percentiles(&tally.queued_ms),
        stills: Vec::new(),
        bound: Vec::new(),
    }
}

/// Percentiles 0 to 100; none of no values.
fn percentiles(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |percent: usize| {
        let at = (sorted.len() - 1) as f64 * percent as f64 / 100.0;
        let low = sorted[at as usize];
        low + (sorted[at.ceil() as usize] - low) * at.fract()
    };
    if sorted.is_empty() { Vec::new() } else { (0..=100).map(at).collect() }
}
