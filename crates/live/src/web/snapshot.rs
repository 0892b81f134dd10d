//! The statistics that the page shows beside the video.

use serde::Serialize;

/// The statistics of one viewer at one moment. `None`, JSON's `null`, means that the scheme or the feedback does not
/// provide the value, or that it is not known yet.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Snapshot {
    /// Seconds since the viewer joined.
    pub time_s: f64,
    /// The scheme's name, as `thalweg schemes` lists it.
    pub scheme: String,
    /// The encoder's target, bits per second of video without packet headers.
    pub target_bps: Option<f64>,
    /// The encoder's rate over the last second.
    pub encoder_bps: Option<f64>,
    /// Everything sent to the viewer over the last second, from the IP header on.
    pub wire_bps: Option<f64>,
    /// Of it, padding.
    pub padding_bps: Option<f64>,
    /// Of it, retransmissions and FEC.
    pub repair_bps: Option<f64>,
    /// Of it, audio.
    pub audio_bps: Option<f64>,
    /// The estimated capacity of the path.
    pub capacity_bps: Option<f64>,
    /// The congestion window.
    pub window_bytes: Option<u64>,
    /// Bytes sent and neither acknowledged nor declared lost.
    pub in_flight_bytes: Option<u64>,
    /// The latest round-trip time, milliseconds.
    pub rtt_ms: Option<f64>,
    /// Excess of that over the shortest one so far, milliseconds: queueing on the path and at the peer.
    pub queue_ms: Option<f64>,
    /// Time from encoding the newest frame to sending its last packet, milliseconds.
    pub frame_delay_ms: Option<f64>,
    /// Vidaptive's headroom factor, 0..=1.
    pub alpha: Option<f64>,
    /// Whether encoding is paused because too much is in flight.
    pub paused: bool,
    /// Frames sent since the viewer joined.
    pub frames_sent: u64,
    /// Pictures not encoded since then.
    pub frames_skipped: u64,
    /// Keyframes since then.
    pub keyframes: u64,
    /// The present resolution, such as `1280x720`.
    pub resolution: Option<String>,
    /// The encoder's quantiser of the latest frame, on the codec's own scale (VP8: 0..=127).
    pub quantizer: Option<f64>,
    /// Packets lost since the viewer joined, as a share of those whose fate is known, 0..=1.
    pub loss_ratio: Option<f64>,
    /// NACKs received since the viewer joined.
    pub nacks: u64,
    /// PLIs received since then.
    pub plis: u64,
    /// The kind of feedback: `twcc-01`, `twcc-02`, `rfc8888`, `extended-reports`, `receiver-reports`.
    pub feedback_kind: Option<String>,
    /// `connecting`, `connected`, `disconnected`, `closed`.
    pub connection_state: String,
    /// Median of how much later than scheduled packets are sent, microseconds.
    pub pacing_lateness_us_p50: Option<f64>,
    /// 99th percentile of that.
    pub pacing_lateness_us_p99: Option<f64>,
}

/// What is published: each page requests it once.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct About {
    /// The page's heading.
    pub title: String,
    /// Thalweg's version.
    pub version: String,
    /// The channels: at least one; two are shown side by side.
    pub channels: Vec<Channel>,
    /// The schemes that a viewer may switch to.
    pub schemes: Vec<String>,
    /// Width of the video in pixels.
    pub width: u16,
    /// Height of the video in pixels.
    pub height: u16,
    /// The interval between pictures, milliseconds.
    pub frame_interval_ms: f64,
    /// Whether pictures carry their number ([`thalweg_video::barcode`]), from which the page measures latency.
    pub barcodes: bool,
    /// When picture 0 was captured, milliseconds since 1970 by this machine's clock; picture n is n intervals later.
    pub epoch_ms: f64,
    /// The emulated link as text, if there is one.
    pub link: Option<String>,
    /// Whether the page should negotiate transport-wide feedback on request (version 02) instead of version 01.
    pub feedback_on_request: bool,
}

/// One of the things to watch.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Channel {
    /// Its name in `/whep/NAME`, of `A-Z a-z 0-9 - _`.
    pub name: String,
    /// The scheme that it is sent with at first.
    pub scheme: String,
    /// Whether viewers may change the scheme.
    pub switchable: bool,
}
