//! The summary figures of a run.

use serde::{Deserialize, Serialize};
use thalweg_sender::FeedbackStyle;
use thalweg_video::quality::Ssim;

use super::choices::Choices;
use super::delivery::Delivery;
use super::fairness::{Sharing, TcpShare};
use super::redundancy::Redundancy;
use super::traffic::Traffic;

/// The version of the keys of `summary.json` and of `--json`. Keys are only added, with a value or null; it is raised when
/// one is removed or changes its meaning (docs/reference/summary.md).
pub const SCHEMA_VERSION: u32 = 1;

/// The figures of a run, with the keys that `--json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The version of these keys; 0 in files from before they had one.
    #[serde(default)]
    pub schema_version: u32,
    /// The version of the program.
    #[serde(default)]
    pub version: String,
    /// The scheme's name.
    pub scheme: String,
    /// The link's name.
    pub trace: String,
    /// The video's name.
    pub video: String,
    /// The size of its pictures, such as 1280x720.
    #[serde(default)]
    pub video_size: String,
    /// The length of the clip in seconds, if it was shorter than the run and so played again and again; else null.
    #[serde(default)]
    pub video_turns_after_s: Option<f64>,
    /// The codec's settings, as it prints them.
    #[serde(default)]
    pub codec: String,
    /// Kind of the receiver's reports, and their frequency; null for another program, which has its own.
    #[serde(default)]
    pub feedback: Option<FeedbackStyle>,
    /// The seed.
    pub seed: u64,
    /// Duration of the run, in seconds.
    pub duration_s: f64,
    /// Media payload that arrived for the first time, in bit/s.
    pub video_bitrate_bps: f64,
    /// Everything sent, from IP upwards, in bit/s.
    pub wire_bitrate_bps: f64,
    /// Padding sent, in bit/s.
    pub padding_bitrate_bps: f64,
    /// Data that passed the bottleneck over its capacity, 0..1; null when the path has none.
    pub utilization: Option<f64>,
    /// Mean luma PSNR of shown frames, in dB; null if it was neither measured nor modelled.
    pub psnr_db: Option<f64>,
    /// dB of the mean SSIM of shown frames; null if it was neither measured nor modelled.
    pub ssim_db: Option<f64>,
    /// The variant of SSIM.
    #[serde(default)]
    pub ssim_variant: Ssim,
    /// Source of PSNR and SSIM: measured on pixels or estimated by an encoder model.
    #[serde(default)]
    pub quality: QualitySource,
    /// 25th percentile of the SSIM of each frame, in dB.
    pub ssim_p25_db: Option<f64>,
    /// Mean MS-SSIM of shown frames, 0..1; null unless requested and measured.
    #[serde(default)]
    pub ms_ssim: Option<f64>,
    /// Mean VMAF of shown frames, 0..100; null unless requested and measured.
    #[serde(default)]
    pub vmaf: Option<f64>,
    /// Mean luma PSNR of what stands on the screen at each of the camera's times, in dB: a frozen frame counts for as long
    /// as it is seen, and a picture left out before the first frame as a grey screen. Null in a real-time run.
    #[serde(default)]
    pub screen_psnr_db: Option<f64>,
    /// dB of the mean SSIM of the same.
    #[serde(default)]
    pub screen_ssim_db: Option<f64>,
    /// Mean MS-SSIM of the same; null unless requested.
    #[serde(default)]
    pub screen_ms_ssim: Option<f64>,
    /// Mean VMAF of the same; null unless requested.
    #[serde(default)]
    pub screen_vmaf: Option<f64>,
    /// Tool that computed VMAF: the versions of libvmaf and ffmpeg, and the model.
    #[serde(default)]
    pub vmaf_tool: Option<String>,
    /// Latency from capture to display over all pictures, a missing one counted until the next shown: median, in ms.
    pub latency_p50_ms: Option<f64>,
    /// 95th percentile of that, in ms.
    pub latency_p95_ms: Option<f64>,
    /// Mean of that, in ms.
    pub latency_mean_ms: Option<f64>,
    /// 95th percentile of the waiting time in the path's queues, per packet, in ms.
    pub queue_delay_p95_ms: Option<f64>,
    /// Mean time from the sender to the receiver, per packet received, in ms: queueing, propagation and jitter.
    #[serde(default)]
    pub one_way_delay_mean_ms: Option<f64>,
    /// Mean of 1 - |E - C| / C, each at least 0, of the controller's estimate E and the rate available to this flow C
    /// (a fair share of what datagrams leave), every 100 ms except in the five seconds after a change; null when the
    /// path has no bottleneck.
    #[serde(default)]
    pub estimate_accuracy: Option<f64>,
    /// Mean of (E - C) / C: above 0 if the controller's estimate is too high.
    #[serde(default)]
    pub estimate_bias: Option<f64>,
    /// Frames shown per second.
    pub frame_rate_fps: f64,
    /// Frames per second that a display can show one after another: those shown less than 8 ms after the one before count
    /// as one with it. Null if the camera was never on.
    #[serde(default)]
    pub shown_fps: Option<f64>,
    /// Camera frames that were shown within 400 ms of their capture over all those captured 400 ms before the end or
    /// earlier, 0..1; null of a shorter run.
    #[serde(default)]
    pub in_time_ratio: Option<f64>,
    /// Time in gaps over 200 ms between shown frames over playing time, 0..1; 0 if the camera was never on.
    pub stall_ratio: f64,
    /// Packets dropped by the path over packets sent, 0..1; one of which a copy arrived is not lost.
    pub packet_loss_ratio: f64,
    /// Salsify's model of the quality of a video call, 1..5.
    pub qoe_call: Option<f64>,
    /// Salsify's model of the quality of driving a car by video, 1..5.
    #[serde(default)]
    pub qoe_driving: Option<f64>,
    /// Number of pictures after the last one shown.
    pub tail_missing: u64,
    /// Hash of all events, in hexadecimal.
    pub events_fingerprint: String,
    /// Simulated seconds over CPU seconds; set by a caller that reads a clock.
    pub speed_x: Option<f64>,
    /// True for a run in real time on real sockets, false in virtual time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub live: bool,
    /// True if the sender's decisions depend on the machine's arithmetic, so that on another machine the run may
    /// differ: those of a neural network do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub machine_dependent: bool,
    /// How the path was shared with other responsive flows; null without any.
    #[serde(default)]
    pub sharing: Option<Sharing>,
    /// How much of the media was delivered, and in time; null if its packets were not tracked.
    #[serde(default)]
    pub delivery: Option<Delivery>,
    /// Cost and effect of redundancy; null if no FEC was sent.
    #[serde(default)]
    pub redundancy: Option<Redundancy>,
    /// Which candidates were sent; null if there was nothing to choose.
    #[serde(default)]
    pub choices: Option<Choices>,
    /// The share of TCP on the path; null without any.
    #[serde(default)]
    pub tcp: Option<TcpShare>,
    /// The summaries of the competing senders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub competitors: Vec<Summary>,
    /// The figures of cross traffic.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traffic: Vec<Traffic>,
    /// The video's bitrate over the upper bound, which a sender that knows the future has at the same 95th percentile of
    /// latency; null where that is not defined.
    #[serde(default)]
    pub bound_share: Option<f64>,
    /// Settings of the scenario without effect on this sender, and why, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

#[cfg(test)]
impl Summary {
    /// The figures of a run that sent nothing, for tests to fill in what they are about.
    pub(crate) fn empty(scheme: &str, trace: &str, seed: u64) -> Summary {
        let nothing = serde_json::json!({
            "scheme": scheme, "trace": trace, "video": "v", "seed": seed, "duration_s": 1.0, "video_bitrate_bps": 0.0,
            "wire_bitrate_bps": 0.0, "padding_bitrate_bps": 0.0, "frame_rate_fps": 0.0, "stall_ratio": 0.0,
            "packet_loss_ratio": 0.0, "tail_missing": 0, "events_fingerprint": "",
        });
        serde_json::from_value(nothing).expect("all that has no default is there")
    }
}

/// Origin of the quality figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QualitySource {
    /// Measured: decoded pictures were compared with their source.
    #[default]
    Measured,
    /// Estimated by an encoder model.
    Modelled,
    /// Not measured in this run.
    None,
}
