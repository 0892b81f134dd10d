//! The outcome of a run: figures and series, without the underlying events.

use serde::{Deserialize, Serialize};

use crate::bound::Point;
use crate::metrics::Summary;
pub use crate::series::{FrameRecord, Mark, Series, Share};

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
    /// The upper bound: rates of a sender that knows the future, in order of latency; empty where that is not defined.
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

/// Length of the beginning of a run, in seconds, whose worst moments count only where there are no others.
pub(crate) const BEGINNING_S: f64 = 1.0;

/// In what respect a moment is a run's worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Worst {
    /// The picture on the screen is older than ever: just before the next one is shown.
    Latency,
    /// The picture on the screen has the lowest PSNR.
    Quality,
}
