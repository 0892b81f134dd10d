//! The outcome of a run: figures and series, without the underlying events.

use serde::{Deserialize, Serialize};
use thalweg_units::{Size, Time};

use crate::bound::Point;
use crate::metrics::Summary;

/// One run of one scheme.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The figures.
    pub summary: Summary,
    /// The codec's settings, as it prints them.
    pub codec: String,
    /// Time series of the run.
    pub series: Series,
    /// Every captured picture, in order.
    pub frames: Vec<FrameRecord>,
    /// Pictures on the screen at each of the camera's times; empty where quality is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub screen: Vec<OnScreen>,
    /// Percentiles 0 to 100 of the waiting time of packets in the path's queues, in ms; empty if none arrived.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue_delay_percentiles_ms: Vec<f64>,
    /// Stills of the worst moments; empty without pixels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stills: Vec<Still>,
    /// The most that any sender could have had over the path, in order of latency; empty where that is not defined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound: Vec<Point>,
}

/// How alike two pictures are, by luma.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// PSNR in dB.
    pub psnr_db: f64,
    /// SSIM, 0..1.
    pub ssim: f64,
    /// MS-SSIM, 0..1, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms_ssim: Option<f64>,
    /// VMAF, 0..100, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vmaf: Option<f64>,
}

/// Picture on the screen at one of the camera's times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OnScreen {
    /// When, in seconds.
    pub at_s: f64,
    /// The picture that was shown last; null before the first.
    pub picture: Option<u64>,
    /// For how many whole intervals of the camera it had been on the screen.
    pub age: u64,
    /// Compared with the picture so many later than its own.
    #[serde(flatten)]
    pub quality: Quality,
}

/// Pictures of camera and viewer at a bad moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Still {
    /// In what respect it is the run's worst.
    pub worst: Worst,
    /// When it was, in seconds.
    pub at_s: f64,
    /// Capture time of the picture from the camera, in seconds.
    pub source_captured_s: f64,
    /// Capture time of the picture that the viewer saw, in seconds.
    pub shown_captured_s: f64,
    /// The picture from the camera, scaled down, as a data URI.
    pub source: String,
    /// The picture that the viewer saw.
    pub shown: String,
}

/// In what respect a moment is a run's worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Worst {
    /// The picture on the screen is older than ever: just before the next one is shown.
    Latency,
    /// The picture on the screen has the lowest PSNR.
    Quality,
}

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
