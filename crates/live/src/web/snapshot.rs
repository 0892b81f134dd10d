//! What the page shows beside the picture.

use serde::Serialize;

/// The figures of one viewer at one moment. `None` is what the scheme, the feedback or the moment does not have; JSON's `null`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Snapshot {
    /// Seconds since the viewer joined.
    pub time_s: f64,
    /// The scheme's name, as `thalweg schemes` lists it.
    pub scheme: String,
    /// What the controller asks the encoder for, bits per second of video before packets' headers.
    pub target_bps: Option<f64>,
    /// What the encoder gives, over the last second.
    pub encoder_bps: Option<f64>,
    /// Everything that left for the viewer, headers down to IP included, over the last second.
    pub wire_bps: Option<f64>,
    /// Padding ("dummies") of it.
    pub padding_bps: Option<f64>,
    /// Retransmissions and FEC of it.
    pub repair_bps: Option<f64>,
    /// Audio of it.
    pub audio_bps: Option<f64>,
    /// What the scheme believes the path can carry.
    pub capacity_bps: Option<f64>,
    /// The congestion window.
    pub window_bytes: Option<u64>,
    /// Sent and neither acknowledged nor given up.
    pub in_flight_bytes: Option<u64>,
    /// The latest round trip, milliseconds.
    pub rtt_ms: Option<f64>,
    /// By how much that exceeds the shortest one so far, milliseconds: what waits in queues on the path, and at the peer.
    pub queue_ms: Option<f64>,
    /// How long the newest frame took from being encoded to its last packet's departure, milliseconds.
    pub frame_delay_ms: Option<f64>,
    /// Vidaptive's headroom factor, 0..=1.
    pub alpha: Option<f64>,
    /// Whether pictures are held back because too much is in flight.
    pub paused: bool,
    /// Pictures sent since the viewer joined.
    pub frames_sent: u64,
    /// Pictures not encoded since then.
    pub frames_skipped: u64,
    /// Keyframes since then.
    pub keyframes: u64,
    /// What is encoded now, `1280x720`.
    pub resolution: Option<String>,
    /// The encoder's quantizer of the latest frame, in the codec's own scale (VP8: 0..=127).
    pub quantizer: Option<f64>,
    /// Packets lost since the viewer joined, of those whose fate is known, 0..=1.
    pub loss_ratio: Option<f64>,
    /// Negative acknowledgements heard since the viewer joined.
    pub nacks: u64,
    /// Requests for a keyframe heard since then.
    pub plis: u64,
    /// Where acknowledgements come from: `twcc-01`, `twcc-02`, `rfc8888`, `extended-reports`, `receiver-reports`.
    pub feedback_kind: Option<String>,
    /// `connecting`, `connected`, `disconnected`, `closed`.
    pub connection_state: String,
    /// How much later than planned packets leave, microseconds, in half of all cases at most.
    pub pacing_lateness_us_p50: Option<f64>,
    /// In 99 of 100.
    pub pacing_lateness_us_p99: Option<f64>,
}

/// What is published: asked for once by each page.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct About {
    /// The page's heading.
    pub title: String,
    /// Of Thalweg.
    pub version: String,
    /// At least one; two are shown side by side.
    pub channels: Vec<Channel>,
    /// The schemes that a viewer may switch to.
    pub schemes: Vec<String>,
    /// The camera's samples across.
    pub width: u16,
    /// And down.
    pub height: u16,
    /// From one picture to the next, milliseconds.
    pub frame_interval_ms: f64,
    /// Whether pictures carry their number ([`thalweg_video::barcode`]), which is how the page knows how late they are.
    pub barcodes: bool,
    /// When picture 0 was captured, milliseconds since 1970 of this machine's clock; picture n is n intervals later.
    pub epoch_ms: f64,
    /// The link in words, when it is an emulated one.
    pub link: Option<String>,
    /// Whether the page should ask for transport-wide feedback on request (version 02) in the place of version 01.
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
