//! The statistics that the page shows beside the video.

use serde::{Deserialize, Serialize};
use thalweg_netsim::Change;
use thalweg_units::{Rate, Span};

use super::refused::{Refused, RefusedKind};
use crate::measure::EcnCounts;

/// The statistics of one viewer at one moment. `None`, JSON's `null`, means that the scheme or the feedback does not
/// provide the value, or that it is not known yet.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Snapshot {
    /// Seconds since the viewer joined.
    pub time_s: f64,
    /// The scheme's name, as `thalweg schemes` lists it.
    pub scheme: String,
    /// The scheme that was asked for, if `scheme` is played instead because the viewer's reports do not
    /// suffice for it.
    pub asked_scheme: Option<String>,
    /// The encoder's target, bits per second of video without packet headers.
    pub target_bps: Option<f64>,
    /// The encoder's rate over the last second.
    pub encoder_bps: Option<f64>,
    /// Everything sent to the viewer over the last second, from the IP header on.
    pub wire_bps: Option<f64>,
    /// Part of it that is padding.
    pub padding_bps: Option<f64>,
    /// Part of it that is retransmissions and FEC.
    pub repair_bps: Option<f64>,
    /// Part of it that is audio.
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
    /// True if encoding is paused because too much is in flight.
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
    /// Bytes sent since the viewer joined, from the IP header on.
    pub sent_bytes: u64,
    /// RTP packets sent since then, by the ECN field they left with.
    pub sent_by_ecn: EcnCounts,
    /// Packets that reports say arrived, by the field they came with; Not-ECT too where reports do not say.
    pub arrived_by_ecn: EcnCounts,
    /// The RTP timestamp (90 kHz) of video captured at [`About::epoch_ms`]: from it a page computes when a frame was
    /// captured.
    pub epoch_timestamp: Option<u32>,
    /// The emulated link, if there is one.
    pub link: Option<LinkFigures>,
    /// Why no pictures come, while none do: the sender has left, or the source pauses.
    pub waiting: Option<String>,
    /// Signs that this machine is too slow, each in a sentence; empty while it keeps up.
    pub too_slow: Vec<String>,
}

/// An emulated link at one moment, in the direction of the video.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct LinkFigures {
    /// Present capacity; `None` if nothing limits it, or before the first packet.
    pub capacity_bps: Option<f64>,
    /// The constant rate it was given since, in place of its own.
    pub rate_bps: Option<f64>,
    /// Its one-way delay without queueing, milliseconds.
    pub delay_ms: f64,
    /// The share of packets lost at random, 0..=1.
    pub loss: f64,
}

/// A request to change the emulated link; what is absent stays as it is.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkChange {
    /// A constant rate in the direction of the video; `Some(None)`, JSON's `null`, for the link's own.
    #[serde(deserialize_with = "present")]
    pub rate_bps: Option<Option<f64>>,
    /// The one-way delay in both directions, milliseconds.
    pub delay_ms: Option<f64>,
    /// The share of packets lost at random in both directions, 0..=1.
    pub loss: Option<f64>,
}

/// A field that is there, even if it is `null`.
fn present<'de, D: serde::Deserializer<'de>>(field: D) -> Result<Option<Option<f64>>, D::Error> {
    Option::deserialize(field).map(Some)
}

impl LinkChange {
    /// The changes of the link.
    ///
    /// # Errors
    /// When a value is out of range.
    pub fn changes(&self) -> Result<Vec<Change>, Refused> {
        let wrong = |message: String| Err(Refused::new(RefusedKind::BadChange, message));
        // At 10 kbps a packet of 1500 bytes takes more than a second.
        if let Some(bps) = self.rate_bps.flatten().filter(|bps| !(1e4..=1e10).contains(bps)) {
            return wrong(format!("The rate {bps} bps; rate_bps must be 10000 to 10000000000 (10 kbps to 10 Gbps)."));
        }
        if let Some(delay) = self.delay_ms.filter(|delay| !(0.0..=10_000.0).contains(delay)) {
            return wrong(format!("The delay {delay} ms; delay_ms must be 0 to 10000."));
        }
        if let Some(loss) = self.loss.filter(|loss| !(0.0..=1.0).contains(loss)) {
            return wrong(format!("The loss {loss}; it must be 0 to 1, such as 0.02 for 2 %."));
        }
        let rate = self.rate_bps.map(|rate| Change::Rate(rate.map(|bps| Rate::from_bps(bps as u64))));
        let delay = self.delay_ms.map(|delay| Change::Delay(Span::from_secs_f64(delay / 1e3)));
        Ok(rate.into_iter().chain(delay).chain(self.loss.map(Change::Loss)).collect())
    }
}

/// Description of the published media: each page requests it once.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct About {
    /// Title for the page's heading; the schemes stand before it.
    pub title: String,
    /// Thalweg's version.
    pub version: String,
    /// The channels: at least one; two are shown side by side.
    pub channels: Vec<Channel>,
    /// The schemes that a viewer may switch to.
    pub schemes: Vec<SchemeLine>,
    /// Width of the video in pixels.
    pub width: u16,
    /// Height of the video in pixels.
    pub height: u16,
    /// The interval between pictures, milliseconds.
    pub frame_interval_ms: f64,
    /// True if pictures carry their number ([`thalweg_video::barcode`]), from which the page measures latency.
    pub barcodes: bool,
    /// When picture 0 was captured, milliseconds since 1970 by this machine's clock; picture n is n intervals later.
    pub epoch_ms: f64,
    /// The emulated link as text, if there is one.
    pub link: Option<String>,
    /// True if the page should negotiate transport-wide feedback on request (version 02) instead of version 01.
    pub feedback_on_request: bool,
}

/// A scheme to choose.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SchemeLine {
    /// Its name.
    pub name: String,
    /// Description in one line; empty for a program's own.
    pub about: String,
}

/// One of the things to watch.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Channel {
    /// Its name in `/whep/NAME`, of `A-Z a-z 0-9 - _`.
    pub name: String,
    /// The scheme that it is sent with at first.
    pub scheme: String,
    /// True if viewers may change the scheme.
    pub switchable: bool,
}
