//! Readings of a run, by the keys that `--json` prints.

use thalweg_units::percentile;

use thalweg_lab::metrics::estimate::{self, Available};
use thalweg_lab::metrics::{Summary, latency, response, spacing, ssim_decibels};
use thalweg_lab::outcome::{FrameRecord, Mark, Outcome};

/// One figure of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reading {
    /// Media payload that was shown, in bit/s.
    VideoBitrate,
    /// Everything sent, in bit/s.
    WireBitrate,
    /// Padding sent, in bit/s.
    PaddingBitrate,
    /// Share of the link used over the run, 0..1.
    Utilization,
    /// Share of the link used in each half second with any capacity, 0..1: this percentile (0..1) of them.
    InstantaneousUtilization(f64),
    /// Mean PSNR, in dB.
    Psnr,
    /// SSIM of the mean, in dB.
    Ssim,
    /// 25th percentile of the SSIM of frames, in dB.
    SsimLow,
    /// Median frame latency, in ms.
    LatencyMedian,
    /// 95th percentile of frame latency, in ms.
    LatencyP95,
    /// Mean frame latency, in ms.
    LatencyMean,
    /// 95th percentile of the waiting time in the path's queues, in ms.
    QueueDelayP95,
    /// Share of the captured pictures that were shown more than 400 ms later, or never, 0..1.
    LateFrames,
    /// Frames shown per second.
    FrameRate,
    /// Mean interval between shown pictures, each weighted by its duration, in ms.
    FrameDistance,
    /// The standard deviation of that, in ms.
    FrameDistanceDeviation,
    /// Share of the time in stalls, 0..1.
    Stalls,
    /// Seconds from this second of the run until the rate on the wire over a whole second reaches this many Mbps.
    WireReaches(f64, f64),
    /// Seconds from this second of the run until the rate of video (headers included) over a whole second reaches this
    /// share of its mean over the 15 s that end at the third number.
    VideoReaches(f64, f64, f64),
    /// The max frame latency in the 20 s after this second of the run, in ms.
    WorstLatency(f64),
    /// Seconds from this second of the run until frame latencies are under 200 ms again.
    Recovery(f64),
    /// Number of changes of the frame resolution.
    SizeChanges,
    /// Mean height in lines of the sent frames.
    MeanLines,
    /// Number of times the queue was discarded.
    Resets,
    /// Number of times encoding paused.
    Pauses,
    /// Modelled rating of a video call, 1..5.
    QoeCall,
    /// Modelled rating of driving by video, 1..5.
    QoeDriving,
    /// Number of keyframes after the first.
    Keyframes,
    /// The share of pictures of which the better candidate was sent, 0..1.
    BetterSent,
    /// The share of pictures of which the candidate of lower quality was sent, 0..1.
    LowerSent,
    /// The share of pictures of which no candidate was sent, 0..1.
    NoneSent,
    /// Decoder states that the sender keeps, on average.
    SenderStates,
    /// Decoder states that the receiver keeps, on average.
    ReceiverStates,
    /// Mean time from the sender to the receiver, per packet, in ms.
    OneWayDelay,
    /// The 5th percentile (0.05) or the greatest (1.0) of that by tenths of a second, from the tenth second on, in ms.
    OneWayDelayPercentile(f64),
    /// Accuracy of the controller's estimate relative to the available rate, 0..1.
    EstimateAccuracy,
    /// Relative bias of the estimate; positive if it is too high.
    EstimateBias,
    /// Jain's index over all responsive flows, while all were active.
    Jain,
    /// Mean over seconds of Jain's index.
    JainBySecond,
    /// This sender's share of the data delivered of all responsive flows, while all were active, 0..1.
    Share,
    /// Median of Camel's M, in bytes.
    BurstLength,
    /// Share of the run in which Camel used GCC instead, 0..1.
    InGcc,
    /// Media delivered in time, in bit/s.
    Goodput,
    /// Packets dropped by the path over packets sent, 0..1.
    PacketLoss,
    /// Media packets that were too late over media packets sent, 0..1.
    Discards,
    /// The sum of both: the share of sent packets that were dropped or too late.
    LostOrLate,
    /// Frames with a packet that was never recovered.
    LostFrames,
    /// Frames with such a packet, or with one that was too late.
    LostOrLateFrames,
    /// Frames with a packet that was dropped although FEC protected it.
    ProtectedLostFrames,
    /// Mean over seconds of goodput over link capacity.
    Abu,
    /// FEC on the wire, in bit/s.
    FecBitrate,
    /// FEC over media, on the wire.
    FecShare,
    /// The share of protected losses that FEC recovered, 0..1.
    Ffre,
    /// The share of the controller's probes with FEC that succeeded, 0..1.
    Frcc,
    /// Throughput per TCP flow while it had something to send, in bit/s.
    TcpThroughput,
    /// Rate divided by a fair share of the link among all flows.
    Tfs,
    /// Rate divided by a fair share of a link without video.
    TfsOfTcpAlone,
    /// A reading of the first competing sender, under its own key.
    OfOther {
        /// Its key.
        key: &'static str,
        /// The reading: a figure of the summary.
        of: &'static Reading,
    },
    /// A reading of a part of the run, under its own key.
    Within {
        /// Its key.
        key: &'static str,
        /// The reading.
        of: Windowed,
        /// Start, in seconds of the run.
        from: f64,
        /// End, in seconds of the run.
        until: f64,
    },
    /// Seconds in which the link had at least 0.5 Mbps and less than 5 % of it was sent.
    Starved,
    /// Milliseconds from the return of the link at this second of the run until a picture captured since is shown.
    FreshFrame(f64),
}

/// A reading of a part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Windowed {
    /// Accuracy of the estimate relative to the available rate, excluding seconds after a change, 0..1.
    Accuracy,
    /// Relative bias of the estimate, of the same seconds.
    Bias,
    /// Standard deviation of the estimate over the available rate, of the same seconds.
    Deviation,
    /// Seconds until the estimate is within a tenth of the available rate and stays there.
    SettlingTime,
    /// Data delivered, from IP upwards, in bit/s.
    Delivered,
    /// Mean of the packets' one-way delay, in ms.
    OneWayDelay,
    /// Mean frame latency of the pictures captured then, in ms.
    LatencyMean,
    /// 95th percentile of that, in ms.
    LatencyP95,
    /// dB of the mean SSIM of the pictures captured then.
    Ssim,
    /// Number of frames shown.
    FramesShown,
    /// Padding sent, in bit/s.
    Padding,
    /// Frames shown per second.
    FrameRate,
    /// Mean of Vidaptive's alpha.
    Alpha,
}

impl Windowed {
    fn of(self, outcome: &Outcome, from: f64, until: f64) -> Option<f64> {
        let series = &outcome.series;
        let available = Available { mbps: &series.available_mbps, bin_s: series.bin_s };
        let estimates = series.variable("capacity_bps");
        let accuracy = || estimate::accuracy(estimates, available, 0.0, (from, until));
        let captured = || -> Vec<FrameRecord> {
            let is_then = |frame: &&FrameRecord| (from..until).contains(&frame.captured_s);
            outcome.frames.iter().filter(is_then).cloned().collect()
        };
        match self {
            Windowed::Accuracy => accuracy().map(|found| found.accuracy),
            Windowed::Bias => accuracy().map(|found| found.bias),
            Windowed::Deviation => accuracy().map(|found| found.deviation),
            Windowed::SettlingTime => estimate::settling_time(estimates, available, (from, until)),
            Windowed::Delivered => {
                let mean = response::mean_between(&series.delivered_mbps, series.bin_s, from, until);
                mean.is_finite().then_some(mean * 1e6)
            }
            Windowed::OneWayDelay => mean_of(series.variable("one_way_delay_ms"), from, until),
            Windowed::LatencyMean => latency(&captured()).map(|latency| latency.mean_ms),
            Windowed::LatencyP95 => latency(&captured()).map(|latency| latency.p95_ms),
            Windowed::Ssim => ssim_decibels(&captured()).map(|(mean, _)| mean),
            Windowed::FramesShown => {
                let shown = outcome.frames.iter().filter_map(|frame| frame.displayed_s);
                Some(shown.filter(|at| (from..until).contains(at)).count() as f64)
            }
            Windowed::Alpha => mean_of(series.variable("alpha"), from, until),
            Windowed::Padding => {
                let mean = response::mean_between(&series.padding_mbps, series.bin_s, from, until);
                mean.is_finite().then_some(mean * 1e6)
            }
            Windowed::FrameRate => {
                let shown = outcome.frames.iter().filter_map(|frame| frame.displayed_s);
                Some(shown.filter(|at| (from..until).contains(at)).count() as f64 / (until - from))
            }
        }
    }
}

/// Mean of the values from `from` to `until` seconds.
fn mean_of(values: &[(f64, f64)], from: f64, until: f64) -> Option<f64> {
    let within = values.iter().filter(|(at, _)| *at >= from && *at < until);
    let (sum, count) = within.fold((0.0, 0.0), |(sum, count), (_, value)| (sum + value, count + 1.0));
    (count > 0.0).then_some(sum / count)
}

/// Latency in seconds beyond which a picture is late (ITU-T G.114 gives 400 ms as the acceptable limit one way).
const LATE_S: f64 = 0.4;

fn late(frames: &[FrameRecord]) -> Option<f64> {
    let in_time = |frame: &&FrameRecord| frame.displayed_s.is_some_and(|shown| shown - frame.captured_s <= LATE_S);
    let in_time = frames.iter().filter(in_time).count();
    (!frames.is_empty()).then(|| 1.0 - in_time as f64 / frames.len() as f64)
}

impl Reading {
    /// Its key in `--json`, also its column heading.
    pub fn key(&self) -> &'static str {
        match self {
            Reading::VideoBitrate => "video_bitrate_bps",
            Reading::WireBitrate => "wire_bitrate_bps",
            Reading::PaddingBitrate => "padding_bitrate_bps",
            Reading::Utilization => "utilization",
            Reading::InstantaneousUtilization(q) if *q < 0.4 => "utilization_500ms_p25",
            Reading::InstantaneousUtilization(q) if *q > 0.6 => "utilization_500ms_p75",
            Reading::InstantaneousUtilization(_) => "utilization_500ms_p50",
            Reading::Psnr => "psnr_db",
            Reading::Ssim => "ssim_db",
            Reading::LatencyMedian => "latency_p50_ms",
            Reading::LatencyP95 => "latency_p95_ms",
            Reading::LatencyMean => "latency_mean_ms",
            Reading::QueueDelayP95 => "queue_delay_p95_ms",
            Reading::LateFrames => "late_ratio",
            Reading::FrameRate => "frame_rate_fps",
            Reading::FrameDistance => "frame_distance_ms",
            Reading::FrameDistanceDeviation => "frame_distance_sigma_ms",
            Reading::Stalls => "stall_ratio",
            Reading::WireReaches(..) => "wire_rise_s",
            Reading::VideoReaches(..) => "video_rise_s",
            Reading::WorstLatency(_) => "worst_latency_ms",
            Reading::Recovery(_) => "recovery_s",
            Reading::SizeChanges => "size_changes",
            Reading::MeanLines => "mean_lines",
            Reading::Resets => "resets",
            Reading::Pauses => "pauses",
            Reading::SsimLow => "ssim_p25_db",
            Reading::QoeCall => "qoe_call",
            Reading::QoeDriving => "qoe_driving",
            Reading::Keyframes => "keyframes_after_first",
            Reading::BetterSent => "better_sent_share",
            Reading::LowerSent => "lower_sent_share",
            Reading::NoneSent => "none_sent_share",
            Reading::SenderStates => "sender_states",
            Reading::ReceiverStates => "receiver_states",
            Reading::Starved => "starved_s",
            Reading::FreshFrame(_) => "fresh_frame_ms",
            Reading::OneWayDelay => "one_way_delay_mean_ms",
            Reading::OneWayDelayPercentile(q) if *q < 0.5 => "one_way_delay_p5_ms",
            Reading::OneWayDelayPercentile(_) => "one_way_delay_max_ms",
            Reading::EstimateAccuracy => "estimate_accuracy",
            Reading::EstimateBias => "estimate_bias",
            Reading::Jain => "jain",
            Reading::JainBySecond => "jain_by_second",
            Reading::Share => "share",
            Reading::BurstLength => "burst_length_bytes",
            Reading::InGcc => "in_gcc",
            Reading::Goodput => "goodput_bps",
            Reading::PacketLoss => "packet_loss_ratio",
            Reading::Discards => "discard_ratio",
            Reading::LostOrLate => "lost_or_late_ratio",
            Reading::LostFrames => "lost_frames",
            Reading::LostOrLateFrames => "lost_or_late_frames",
            Reading::ProtectedLostFrames => "protected_lost_frames",
            Reading::Abu => "abu",
            Reading::FecBitrate => "fec_bitrate_bps",
            Reading::FecShare => "fec_share",
            Reading::Ffre => "ffre",
            Reading::Frcc => "frcc",
            Reading::TcpThroughput => "tcp_throughput_bps",
            Reading::Tfs => "tfs",
            Reading::TfsOfTcpAlone => "tfs_of_tcp_alone",
            Reading::OfOther { key, .. } => key,
            Reading::Within { key, .. } => key,
        }
    }

    /// The value for `outcome`; `None` if it does not apply.
    pub fn of(&self, outcome: &Outcome) -> Option<f64> {
        let series = &outcome.series;
        let marks = |kind: Mark| Some(series.marks.iter().filter(|(_, mark)| *mark == kind).count() as f64);
        match *self {
            Reading::InstantaneousUtilization(q) => percentile(&response::instantaneous_utilization(series), q),
            Reading::WireReaches(from, level) => response::time_to_reach(&series.sent_mbps, series.bin_s, from, level),
            Reading::VideoReaches(from, share, end) => {
                let settled = response::mean_between(&series.video_mbps, series.bin_s, end - 15.0, end);
                response::time_to_reach(&series.video_mbps, series.bin_s, from, share * settled)
            }
            Reading::WorstLatency(from) => Some(response::after_drop(&outcome.frames, from, 20.0).worst_ms),
            Reading::Recovery(from) => Some(response::after_drop(&outcome.frames, from, 20.0).recovery_s),
            Reading::OneWayDelayPercentile(q) => {
                let delays = series.variable("one_way_delay_ms").iter().filter(|(at, _)| *at >= 10.0);
                percentile(&delays.map(|(_, delay)| *delay).collect::<Vec<_>>(), q)
            }
            Reading::SizeChanges => marks(Mark::Resize),
            Reading::MeanLines => {
                let sent = outcome.frames.iter().filter(|frame| frame.queued_s.is_some());
                let (sum, count) = sent.fold((0.0, 0.0), |(sum, count), f| (sum + f64::from(f.height), count + 1.0));
                (count > 0.0).then_some(sum / count)
            }
            Reading::LateFrames => late(&outcome.frames),
            Reading::FrameDistance => spacing::of_frames(&outcome.frames).map(|(mean, _)| mean),
            Reading::FrameDistanceDeviation => spacing::of_frames(&outcome.frames).map(|(_, sigma)| sigma),
            Reading::Resets => marks(Mark::Reset),
            Reading::Pauses => marks(Mark::Pause),
            Reading::Keyframes => marks(Mark::Keyframe).map(|count| (count - 1.0).max(0.0)),
            Reading::BurstLength => {
                let lengths: Vec<f64> = series.variable("M_bytes").iter().map(|(_, bytes)| *bytes).collect();
                percentile(&lengths, 0.5)
            }
            Reading::InGcc => mean_of(series.variable("in_gcc"), 0.0, f64::INFINITY),
            Reading::Within { of, from, until, .. } => of.of(outcome, from, until),
            Reading::OfOther { of, .. } => of.of_summary(outcome.summary.competitors.first()?),
            Reading::Starved => Some(response::starved_s(series)),
            Reading::FreshFrame(back) => response::first_fresh_ms(&outcome.frames, back),
            _ => self.of_summary(&outcome.summary),
        }
    }

    /// The value for a run's summary; `None` if it does not apply, or needs more than the summary.
    fn of_summary(&self, summary: &Summary) -> Option<f64> {
        match *self {
            Reading::VideoBitrate => Some(summary.video_bitrate_bps),
            Reading::WireBitrate => Some(summary.wire_bitrate_bps),
            Reading::PaddingBitrate => Some(summary.padding_bitrate_bps),
            Reading::Utilization => summary.utilization,
            Reading::Psnr => summary.psnr_db,
            Reading::Ssim => summary.ssim_db,
            Reading::LatencyMedian => summary.latency_p50_ms,
            Reading::LatencyP95 => summary.latency_p95_ms,
            Reading::LatencyMean => summary.latency_mean_ms,
            Reading::QueueDelayP95 => summary.queue_delay_p95_ms,
            Reading::FrameRate => Some(summary.frame_rate_fps),
            Reading::Stalls => Some(summary.stall_ratio),
            Reading::SsimLow => summary.ssim_p25_db,
            Reading::QoeCall => summary.qoe_call,
            Reading::QoeDriving => summary.qoe_driving,
            Reading::OneWayDelay => summary.one_way_delay_mean_ms,
            Reading::EstimateAccuracy => summary.estimate_accuracy,
            Reading::EstimateBias => summary.estimate_bias,
            Reading::Jain => summary.sharing.as_ref().map(|sharing| sharing.jain),
            Reading::JainBySecond => summary.sharing.as_ref().map(|sharing| sharing.jain_by_second),
            Reading::BetterSent => Some(summary.choices?.better_share),
            Reading::LowerSent => Some(summary.choices?.lower_share),
            Reading::NoneSent => Some(summary.choices?.none_share),
            Reading::SenderStates => summary.choices?.sender_states,
            Reading::ReceiverStates => summary.choices?.receiver_states,
            Reading::Share => summary.sharing.as_ref()?.flows.first().map(|flow| flow.share),
            Reading::PacketLoss => Some(summary.packet_loss_ratio),
            Reading::Goodput => Some(summary.delivery?.goodput_bps),
            Reading::Discards => Some(summary.delivery?.discard_ratio),
            Reading::LostOrLate => Some(summary.packet_loss_ratio + summary.delivery?.discard_ratio),
            Reading::LostFrames => Some(summary.delivery?.lost_frames as f64),
            Reading::LostOrLateFrames => Some(summary.delivery?.lost_or_late_frames as f64),
            Reading::ProtectedLostFrames => Some(summary.redundancy?.protected_lost_frames as f64),
            Reading::Abu => summary.delivery?.abu,
            Reading::FecBitrate => Some(summary.redundancy?.fec_bitrate_bps),
            Reading::FecShare => Some(summary.redundancy?.fec_share),
            Reading::Ffre => summary.redundancy?.ffre,
            Reading::Frcc => summary.redundancy?.frcc,
            Reading::TcpThroughput => Some(summary.tcp?.throughput_bps),
            Reading::Tfs => Some(summary.tcp?.tfs),
            Reading::TfsOfTcpAlone => Some(summary.tcp?.tfs_of_tcp_alone),
            _ => None,
        }
    }
}
