//! The statistics of a receiver.

use serde::Serialize;

/// Statistics so far, over all sessions. Names that the laboratory uses too have the same meaning here; `None`, JSON's
/// `null`, means unknown.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Report {
    /// From the first connection to now, seconds.
    pub duration_s: f64,
    /// Established connections.
    pub sessions: u64,
    /// The negotiated codec: `VP8`, `H264` or `VP9`.
    pub codec: Option<String>,
    /// The kind of feedback: `twcc`, `twcc-on-request`, `ccfb`, `xr`, `plain`.
    pub feedback: Option<String>,
    /// The present resolution, such as `1280x720`.
    pub resolution: Option<String>,
    /// Complete frames (for functional video, also damaged ones, which are decoded as far as they arrived).
    pub frames_whole: u64,
    /// Keyframes among them.
    pub keyframes: u64,
    /// Frames decoded.
    pub frames_decoded: u64,
    /// Frames that the decoder rejected.
    pub frames_undecodable: u64,
    /// Frames skipped because the decoder was behind.
    pub frames_skipped: u64,
    /// Frames that were partly received and given up.
    pub frames_abandoned: u64,
    /// Pictures missing between two displayed ones, not encoded or lost; from barcodes.
    pub pictures_missing: Option<u64>,
    /// Pictures shown later than the configured limit ([`WatchConfig::late`](crate::watch::WatchConfig::late)).
    pub frames_late: u64,
    /// Displayed pictures per second, from the first on.
    pub frame_rate_fps: f64,
    /// Time in gaps over 200 ms between pictures, over playing time, 0..=1.
    pub stall_ratio: f64,
    /// The number of such gaps.
    pub freezes: u64,
    /// The longest gap, milliseconds.
    pub longest_freeze_ms: f64,
    /// Median latency from capture to display; a missing picture counts until the next displayed one.
    pub latency_p50_ms: Option<f64>,
    /// 95th percentile of the latency.
    pub latency_p95_ms: Option<f64>,
    /// Mean latency.
    pub latency_mean_ms: Option<f64>,
    /// Source of the latency: `barcodes`, or `sender-reports` (missing pictures then do not count).
    pub latency_from: Option<&'static str>,
    /// The publisher's clock minus ours; `None` if it was not measured, both clocks are then assumed to be the same.
    pub clock_offset_ms: Option<f64>,
    /// Uncertainty of the offset: half the round trip of the ping it was measured with.
    pub clock_uncertainty_ms: Option<f64>,
    /// Encoded frames, bits per second.
    pub video_bitrate_bps: f64,
    /// Everything received, from the IP header on, bits per second.
    pub wire_bitrate_bps: f64,
    /// Received packets of the video stream.
    pub packets_received: u64,
    /// Received RTP packets of every stream, retransmissions, FEC and audio too, by the ECN field they arrived with.
    pub packets_by_ecn: EcnCounts,
    /// Packets of the retransmission stream among them, padding included.
    pub retransmissions_by_ecn: EcnCounts,
    /// Packets of the video stream that did not arrive at first, over all that were sent, 0..=1.
    pub packet_loss_ratio: f64,
    /// Missing packets that were retransmitted.
    pub packets_retransmitted: u64,
    /// Missing packets that FEC recovered.
    pub packets_recovered: u64,
    /// Received FEC packets.
    pub fec_packets: u64,
    /// Requested retransmissions (NACK); each request of a packet counts.
    pub retransmissions_requested: u64,
    /// Requested keyframes (PLI).
    pub keyframes_requested: u64,
    /// RTCP datagrams, reports and requests alike, that could not be written or protected; 0 unless something is wrong.
    pub rtcp_unsent: u64,
    /// The present interarrival jitter of video packets (RFC 3550).
    pub jitter_ms: f64,
    /// Round-trip time to the publisher in its last report, if it sends them (RFC 3611).
    pub round_trip_ms: Option<f64>,
    /// The path's capacity in bits per second, as last reported to a publisher whose scheme uses path reports
    /// (`rebera`).
    pub path_capacity_bps: Option<f64>,
    /// Received audio packets.
    pub audio_packets: u64,
    /// Lost audio packets.
    pub audio_lost: u64,
    /// Audio packets per second, from the first on.
    pub audio_rate_pps: f64,
    /// How much later pictures arrive than the audio of the same instant: median of one value per second.
    pub skew_ms: Option<f64>,
    /// Drift of the skew, milliseconds per minute: the slope of the least-squares line.
    pub skew_drift_ms_per_minute: Option<f64>,
}

/// Packets by their ECN field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct EcnCounts {
    /// Not ECN-capable.
    pub not_ect: u64,
    /// ECT(1).
    pub ect1: u64,
    /// ECT(0).
    pub ect0: u64,
    /// Congestion experienced.
    pub ce: u64,
}

impl From<[u64; 4]> for EcnCounts {
    /// Counts in the order of [`Ecn::ALL`](thalweg_units::Ecn::ALL).
    fn from([not_ect, ect1, ect0, ce]: [u64; 4]) -> EcnCounts {
        EcnCounts { not_ect, ect1, ect0, ce }
    }
}

impl EcnCounts {
    /// Each count with its label for Prometheus.
    pub(crate) fn labelled(self) -> [(&'static str, u64); 4] {
        [("not_ect", self.not_ect), ("ect1", self.ect1), ("ect0", self.ect0), ("ce", self.ce)]
    }
}
