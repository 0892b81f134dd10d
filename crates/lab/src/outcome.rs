//! What came of a run: figures and series, without the events they were made of.

use serde::{Deserialize, Serialize};
use thalweg_units::{Size, Time};

use crate::metrics::Summary;

/// One run of one scheme.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The figures.
    pub summary: Summary,
    /// The codec's settings, as it prints them.
    pub codec: String,
    /// What happened over time.
    pub series: Series,
    /// Every picture of the camera, in order.
    pub frames: Vec<FrameRecord>,
}

/// What happened over time. Lists with one value for each bin have `bins` of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Series {
    /// The width of a bin, in seconds.
    pub bin_s: f64,
    /// What the link could carry, in Mbps.
    pub capacity_mbps: Vec<f64>,
    /// What the link could carry of this flow, in Mbps: by whole seconds, a fair share of what datagrams leave.
    #[serde(default)]
    pub available_mbps: Vec<f64>,
    /// What was put on the wire, in Mbps.
    pub sent_mbps: Vec<f64>,
    /// What of that was video sent for the first time, with headers, in Mbps.
    pub video_mbps: Vec<f64>,
    /// What of that was padding, in Mbps.
    pub padding_mbps: Vec<f64>,
    /// What the bottleneck let through, in Mbps.
    pub delivered_mbps: Vec<f64>,
    /// Variables of controller and policy by name, and of the path `one_way_delay_ms`, the mean of each bin: (seconds,
    /// value).
    pub variables: Vec<(String, Vec<(f64, f64)>)>,
    /// Moments worth a mark: (seconds, what).
    pub marks: Vec<(f64, Mark)>,
    /// What everybody else on the path had of it: competing senders, then cross traffic, each in the scenario's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Share>,
}

/// What one competitor had of the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// A sender's scheme, or which cross traffic it is.
    pub name: String,
    /// What the path let through by bin, in Mbps.
    pub delivered_mbps: Vec<f64>,
}

impl Series {
    /// A variable by its name; empty where there is none.
    pub fn variable(&self, name: &str) -> &[(f64, f64)] {
        self.variables.iter().find(|(known, _)| known == name).map_or(&[], |(_, points)| points)
    }
}

/// A moment worth a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// Encoding paused.
    Pause,
    /// Encoding went on.
    Resume,
    /// The queue was thrown away.
    Reset,
    /// A keyframe was queued.
    Keyframe,
    /// The size of frames changed.
    Resize,
    /// A packet was dropped.
    Drop,
}

/// The outcome of one picture of the camera.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrameRecord {
    /// When it was read, in seconds.
    pub captured_s: f64,
    /// When it was queued as a frame, in seconds.
    pub queued_s: Option<f64>,
    /// When the last of its packets left the sender, in seconds.
    pub sent_s: Option<f64>,
    /// When it was shown, in seconds.
    pub displayed_s: Option<f64>,
    /// Its payload bytes.
    pub bytes: u64,
    /// Whether it was a keyframe.
    pub keyframe: bool,
    /// Its quantiser, in the codec's scale.
    pub quantizer: Option<u8>,
    /// Lines in it.
    pub height: u16,
    /// Luma PSNR against the source, in dB, if shown and measured.
    pub psnr_db: Option<f64>,
    /// SSIM against the source, 0..1, if shown and measured.
    pub ssim: Option<f64>,
}

impl FrameRecord {
    /// A picture just read.
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
        }
    }
}
