//! What was seen, as figures.

use serde::Serialize;

/// What was seen so far, over all sessions. Names that the laboratory's figures have too
/// mean the same here; `None`, JSON's `null`, is what cannot be known.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Report {
    /// From the first connection to now, seconds.
    pub duration_s: f64,
    /// Connections that came about.
    pub sessions: u64,
    /// What was agreed on: `VP8`, `H264` or `VP9`.
    pub codec: Option<String>,
    /// How arrivals are reported: `twcc`, `twcc-on-request`, `ccfb`, `xr`, `plain`.
    pub feedback: Option<String>,
    /// What is decoded now, `1280x720`.
    pub resolution: Option<String>,
    /// Frames that came whole (of functional video, also damaged ones that are decoded as far as they came).
    pub frames_whole: u64,
    /// Of these, refer to no other.
    pub keyframes: u64,
    /// Frames decoded.
    pub frames_decoded: u64,
    /// Frames that the decoder refused.
    pub frames_undecodable: u64,
    /// Frames that came too fast for the decoder and were left out.
    pub frames_skipped: u64,
    /// Frames of which something came and that were given up.
    pub frames_abandoned: u64,
    /// Pictures between two that were shown and that were not: not encoded, or lost; by barcodes.
    pub pictures_missing: Option<u64>,
    /// Pictures shown later than [`WatchConfig::late`](super::WatchConfig::late).
    pub frames_late: u64,
    /// Pictures shown a second, from the first on.
    pub frame_rate_fps: f64,
    /// Time in gaps over 200 ms between pictures over playing time, 0..=1.
    pub stall_ratio: f64,
    /// How many such gaps.
    pub freezes: u64,
    /// The longest gap, milliseconds.
    pub longest_freeze_ms: f64,
    /// From capture to display, a missing picture counted to the next shown: median.
    pub latency_p50_ms: Option<f64>,
    /// 95th percentile of that.
    pub latency_p95_ms: Option<f64>,
    /// Mean of that.
    pub latency_mean_ms: Option<f64>,
    /// Where that is from: `barcodes`, or `sender-reports` (then pictures that are missing do not count).
    pub latency_from: Option<&'static str>,
    /// The publisher's clock less ours, and half the ping it was measured with; without one both are taken to be the same clock.
    pub clock_offset_ms: Option<f64>,
    /// By how much that may be wrong.
    pub clock_uncertainty_ms: Option<f64>,
    /// Encoded frames, bits per second.
    pub video_bitrate_bps: f64,
    /// Everything that came, from IP upwards, bits per second.
    pub wire_bitrate_bps: f64,
    /// Packets of the video's stream that came.
    pub packets_received: u64,
    /// Packets of the video's stream that did not come at first, over all that were sent, 0..=1.
    pub packet_loss_ratio: f64,
    /// Packets that were missing and came again.
    pub packets_retransmitted: u64,
    /// Packets that were missing and were recovered by FEC.
    pub packets_recovered: u64,
    /// FEC packets that came.
    pub fec_packets: u64,
    /// Packets asked for again (NACK), each as often as it was.
    pub retransmissions_requested: u64,
    /// Keyframes asked for (PLI).
    pub keyframes_requested: u64,
    /// How much the spacing of video packets varies (RFC 3550), now.
    pub jitter_ms: f64,
    /// From here to the publisher and back, as of its last report, where it tells (RFC 3611).
    pub round_trip_ms: Option<f64>,
    /// What the path bears, bits per second, as it was last reported to a publisher whose scheme plans by it (`rebera`).
    pub path_capacity_bps: Option<f64>,
    /// Audio packets that came.
    pub audio_packets: u64,
    /// Audio packets that did not.
    pub audio_lost: u64,
    /// Audio packets a second, from the first on.
    pub audio_rate_pps: f64,
    /// How much later pictures come than the audio of the same instant: median of once a second.
    pub skew_ms: Option<f64>,
    /// How that changes, milliseconds a minute: the slope of the line of least squares.
    pub skew_drift_ms_per_minute: Option<f64>,
}
