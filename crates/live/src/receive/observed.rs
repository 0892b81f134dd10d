//! Reports on a sender, and the results that remain when it has gone.

use serde::Serialize;
use serde_json::Value;
use thalweg_transport::sdp::Video;
use thalweg_units::{Bytes, Time};

use crate::measure::{MeasureError, Report, SeenFrame};
use thalweg_emulate::{Packet, Statistics};

/// The figures of one sender. `None`, JSON's `null`, means unknown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SenderReport {
    /// The sender's own name, with its number.
    pub name: String,
    /// `connecting`, `connected`, `disconnected`, `closed`.
    pub state: &'static str,
    /// Seconds since it joined.
    pub time_s: f64,
    /// Everything received over the last second, from the IP header on, bits per second.
    pub wire_bps: f64,
    /// Pictures shown over the last second.
    pub shown_fps: f64,
    /// Present capacity of its emulated link, bits per second.
    pub capacity_bps: Option<f64>,
    /// Mean capacity of the link since it connected.
    pub capacity_mean_bps: Option<f64>,
    /// Everything received since then, over what the link could carry.
    pub utilization: Option<f64>,
    /// Traffic of its link, once it has left, as `thalweg emulate` prints it.
    pub link: Option<Value>,
    /// Everything else that is measured, since it connected.
    #[serde(flatten)]
    pub received: Report,
}

/// A sender that has left.
#[derive(Debug)]
pub struct Observed {
    /// Its figures.
    pub report: SenderReport,
    /// Time zero of its link; without one when its first packet came.
    pub zero: Time,
    /// When it had left.
    pub end: Time,
    /// [`Time::ZERO`] of the receiver's clock, in milliseconds since 1970.
    pub wall_ms: f64,
    /// The video that was agreed on.
    pub video: Option<Video>,
    /// Bytes that SRTP appends to a packet.
    pub tag: Bytes,
    /// Its RTP, if that was wanted ([`Observe::each_packet`](super::Observe::each_packet)): as it came to the link, or
    /// without one as it came here.
    pub packets: Vec<Packet>,
    /// Its frames, if that was wanted.
    pub frames: Vec<SeenFrame>,
    /// The counts of its link.
    pub link: Option<Statistics>,
    /// Why not all of it was decoded or recorded, as on a full disk.
    pub failure: Option<MeasureError>,
}
