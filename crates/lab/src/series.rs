//! A run over time: series of rates and variables, and every captured picture.

use serde::{Deserialize, Serialize};
use thalweg_units::{Size, Time};

/// Time series of a run. Lists with one value per bin have `bins` values.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Series {
    /// The width of a bin, in seconds.
    pub bin_s: f64,
    /// Link capacity, in Mbps.
    pub capacity_mbps: Vec<f64>,
    /// Capacity available to this flow, in Mbps: by whole seconds, a fair share of what datagrams leave.
    #[serde(default)]
    pub available_mbps: Vec<f64>,
    /// Data sent, in Mbps.
    pub sent_mbps: Vec<f64>,
    /// Its first transmissions of video, with headers, in Mbps.
    pub video_mbps: Vec<f64>,
    /// Its padding, in Mbps.
    pub padding_mbps: Vec<f64>,
    /// Data that passed the bottleneck, in Mbps.
    pub delivered_mbps: Vec<f64>,
    /// Variables of controller and policy by name, and `one_way_delay_ms` of the path as the mean of each bin:
    /// (seconds, value).
    pub variables: Vec<(String, Vec<(f64, f64)>)>,
    /// Events to mark in charts: (seconds, event).
    pub marks: Vec<(f64, Mark)>,
    /// When the camera was off, from and until, in seconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub camera_off: Vec<(f64, f64)>,
    /// The other flows on the path: competing senders, then cross traffic, each in the scenario's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Share>,
}

/// One competitor on the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// A sender's scheme, or the kind of cross traffic.
    pub name: String,
    /// Data delivered by bin, in Mbps.
    pub delivered_mbps: Vec<f64>,
}

impl Series {
    /// A variable by its name; empty if there is none.
    pub fn variable(&self, name: &str) -> &[(f64, f64)] {
        self.variables.iter().find(|(known, _)| known == name).map_or(&[], |(_, points)| points)
    }
}

/// An event to mark in charts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// Encoding paused.
    Pause,
    /// Encoding resumed.
    Resume,
    /// The queue was discarded.
    Reset,
    /// A keyframe was queued.
    Keyframe,
    /// The frame resolution changed.
    Resize,
    /// A packet was dropped.
    Drop,
}

/// The outcome of one captured picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrameRecord {
    /// When it was captured, in seconds.
    pub captured_s: f64,
    /// When it was queued as a frame, in seconds.
    pub queued_s: Option<f64>,
    /// When the last of its packets was sent, in seconds.
    pub sent_s: Option<f64>,
    /// When it was shown, in seconds.
    pub displayed_s: Option<f64>,
    /// Its payload bytes.
    pub bytes: u64,
    /// True if it was a keyframe.
    pub keyframe: bool,
    /// Its quantiser, in the codec's scale.
    pub quantizer: Option<u8>,
    /// Height of the frame in lines.
    pub height: u16,
    /// Luma PSNR against the source, in dB, if shown and measured.
    pub psnr_db: Option<f64>,
    /// SSIM against the source, 0..1, if shown and measured.
    pub ssim: Option<f64>,
    /// MS-SSIM against the source, 0..1, if shown and requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms_ssim: Option<f64>,
    /// VMAF against the source, 0..100, if shown and requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vmaf: Option<f64>,
}

impl FrameRecord {
    /// The record of a picture just captured.
    pub fn read(at: Time, size: Size) -> FrameRecord {
        FrameRecord {
            captured_s: at.as_secs_f64(),
            queued_s: None,
            sent_s: None,
            displayed_s: None,
            bytes: 0,
            keyframe: false,
            quantizer: None,
            height: size.height,
            psnr_db: None,
            ssim: None,
            ms_ssim: None,
            vmaf: None,
        }
    }
}
