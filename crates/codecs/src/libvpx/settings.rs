//! Configuration of libvpx, as libwebrtc does it for a camera.

use serde::{Deserialize, Serialize};
use thalweg_units::Span;

/// Settings of the VP8 encoder, with libvpx's and libwebrtc's names. The defaults are those of libwebrtc's
/// `modules/video_coding/codecs/vp8/libvpx_vp8_encoder.cc` for a camera, except `noise_sensitivity` and `threads`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Trade-off between speed and quality: negative, so that it never adapts to the wall clock. libwebrtc uses -6 on
    /// desktops above CIF.
    pub cpu_used: i8,
    /// The rate control buffer, which determines how fast the encoder follows its target.
    pub rate_buffer: RateBuffer,
    /// The finest quantiser, 0..=63 (`rc_min_quantizer`; libwebrtc 2).
    pub min_quantizer: u8,
    /// The coarsest quantiser, 0..=63 (`rc_max_quantizer`; libwebrtc `kDefaultVideoMaxQpVpx`, 56).
    pub max_quantizer: u8,
    /// Drop frames while the buffer is below this percentage (`rc_dropframe_thresh`; libwebrtc 30 for cameras, 0 never
    /// drops).
    pub drop_frame_threshold: u8,
    /// `rc_undershoot_pct` (libwebrtc 100).
    pub undershoot_percent: u32,
    /// `rc_overshoot_pct` (libwebrtc 15).
    pub overshoot_percent: u32,
    /// Blocks that change less than this are skipped (`VP8E_SET_STATIC_THRESHOLD`; libwebrtc 1).
    pub static_threshold: u32,
    /// The temporal denoiser, 0 off to 6 (`VP8E_SET_NOISE_SENSITIVITY`). Chromium switches it on for cameras; here it
    /// is off, because quality is measured against the source with its noise.
    pub noise_sensitivity: u8,
    /// log2 of the token partitions (libwebrtc: one).
    pub token_partitions: u8,
    /// When frames may not be dropped, whether a target rate below what the coarsest quantiser produces is raised to
    /// that rate. Otherwise libvpx's rate control repays an outage long after it (`windup.rs`). Not in libwebrtc.
    pub bound_debt: bool,
    /// Encoder threads. One keeps the output the same on every machine.
    pub threads: u8,
}

/// Settings of the VP9 encoder. The defaults are those of libwebrtc's
/// `modules/video_coding/codecs/vp9/libvpx_vp9_encoder.cc` for a camera from 352x288 on, except the denoiser, which is
/// off, and `threads`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Vp9Settings {
    /// Trade-off between speed and quality, 5 to 9; none of these adapts to the wall clock (`VP8E_SET_CPUUSED`;
    /// libwebrtc 7).
    pub cpu_used: u8,
    /// The rate control buffer.
    pub rate_buffer: RateBuffer,
    /// The finest quantiser, 0..=63 (`rc_min_quantizer`; libwebrtc 2).
    pub min_quantizer: u8,
    /// The coarsest quantiser, 0..=63 (`rc_max_quantizer`; libwebrtc 52).
    pub max_quantizer: u8,
    /// Drop frames while the buffer is below this percentage (`rc_dropframe_thresh`; libwebrtc 30 for cameras, 0 never
    /// drops).
    pub drop_frame_threshold: u8,
    /// `rc_undershoot_pct` (libwebrtc 50).
    pub undershoot_percent: u32,
    /// `rc_overshoot_pct` (libwebrtc 50).
    pub overshoot_percent: u32,
    /// Blocks that change less than this are skipped (`VP8E_SET_STATIC_THRESHOLD`; libwebrtc 1).
    pub static_threshold: u32,
    /// Adaptive quantisation: 0 off, 3 cyclic refresh (`VP9E_SET_AQ_MODE`; libwebrtc 3).
    pub aq_mode: u8,
    /// As [`Settings::bound_debt`].
    pub bound_debt: bool,
    /// Encoder threads. One keeps the output the same on every machine.
    pub threads: u8,
}

impl Default for Vp9Settings {
    fn default() -> Vp9Settings {
        Vp9Settings {
            cpu_used: 7,
            rate_buffer: RateBuffer::Webrtc,
            min_quantizer: 2,
            max_quantizer: 52,
            drop_frame_threshold: 30,
            undershoot_percent: 50,
            overshoot_percent: 50,
            static_threshold: 1,
            aq_mode: 3,
            bound_debt: true,
            threads: 1,
        }
    }
}

impl std::fmt::Display for Vp9Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (buffer, _, _) = self.rate_buffer.millis();
        write!(
            f,
            "libvpx VP9 cpu_used {}, {buffer} ms rate buffer, quantiser {}-{}, drop threshold {}, aq_mode {}",
            self.cpu_used, self.min_quantizer, self.max_quantizer, self.drop_frame_threshold, self.aq_mode
        )
    }
}

/// Length of the rate control buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateBuffer {
    /// libwebrtc's: length 1 s, initial level 500 ms, optimal level 600 ms. At 360p, steps between 300 and 1200 kbps
    /// were followed to within a fifth in 0.87 s up and 0.30 s down (tests/vp8.rs); Vidaptive's Fig. 2 shows 2.0 and
    /// 0.7 s to reach the target.
    Webrtc,
    /// This length, in the same proportions: 200 ms followed the same steps in 0.13 s up and 0.10 s down.
    Span(Span),
}

impl RateBuffer {
    /// `rc_buf_sz`, `rc_buf_initial_sz` and `rc_buf_optimal_sz`, in ms.
    pub(crate) fn millis(self) -> (u32, u32, u32) {
        match self {
            RateBuffer::Webrtc => (1000, 500, 600),
            RateBuffer::Span(span) => {
                let whole = span.as_millis().clamp(10, 60_000) as u32;
                (whole, whole / 2, whole * 6 / 10)
            }
        }
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            cpu_used: -6,
            rate_buffer: RateBuffer::Webrtc,
            min_quantizer: 2,
            max_quantizer: 56,
            drop_frame_threshold: 30,
            undershoot_percent: 100,
            overshoot_percent: 15,
            static_threshold: 1,
            noise_sensitivity: 0,
            token_partitions: 0,
            bound_debt: true,
            threads: 1,
        }
    }
}

impl std::fmt::Display for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (buffer, _, _) = self.rate_buffer.millis();
        write!(
            f,
            "libvpx VP8 cpu_used {}, {buffer} ms rate buffer, quantiser {}-{}, drop threshold {}, denoiser {}",
            self.cpu_used, self.min_quantizer, self.max_quantizer, self.drop_frame_threshold, self.noise_sensitivity
        )
    }
}
