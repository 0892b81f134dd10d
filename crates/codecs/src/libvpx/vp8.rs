//! VP8 behind libvpx's interface.
#![allow(unsafe_code)]

use thalweg_types::Layer;
use thalweg_units::{ConfigError, check};
use vpx_sys as vpx;

use super::format::{Control, Format, Rates, common, layer_rates, set_pattern};
use super::settings::Settings;

/// Max interval between keyframes, in frames (libwebrtc's `keyFrameInterval`).
const KEYFRAME_INTERVAL: u32 = 3_000;

/// The quantiser index (0..=127) for each libvpx quantiser 0..=63 (`vp8/encoder/onyx_if.c`, `q_trans`: RFC 6386 has the
/// index only).
const QUANTIZER_INDEX: [u8; 64] = [
    0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 27, 28, 29, 30, 31, 33, 35, 37, 39,
    41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 64, 67, 70, 73, 76, 79, 82, 85, 88, 91, 94, 97, 100, 103, 106, 109,
    112, 115, 118, 121, 124, 127,
];

impl Format for Settings {
    common!("libvpx VP8", vpx_codec_vp8_cx);

    fn check(&self) -> Result<(), ConfigError> {
        let range = "-16 to -1: zero and above adapt to the wall clock, and runs would not repeat";
        check("cpu_used", self.cpu_used).is((-16..=-1).contains(&self.cpu_used), range)?;
        check("noise_sensitivity", self.noise_sensitivity).within(0..=6, "0")?;
        check("token_partitions", self.token_partitions).within(0..=3, "0")
    }

    /// libwebrtc enables error resilience when there are layers, so that no frame's probability changes persist; here
    /// the flags of each frame achieve the same.
    fn configure(&self, layers: u8, config: &mut vpx::vpx_codec_enc_cfg) {
        config.g_error_resilient = 0;
        config.kf_max_dist = KEYFRAME_INTERVAL;
        if layers > 1 {
            set_pattern(layers, config);
            // A keyframe that libvpx inserts by itself could come anywhere in the pattern.
            config.kf_mode = vpx::vpx_kf_mode::VPX_KF_FIXED;
        } else {
            config.kf_mode = vpx::vpx_kf_mode::VPX_KF_AUTO;
        }
    }

    fn set_rate(config: &mut vpx::vpx_codec_enc_cfg, kbps: u32) {
        config.rc_target_bitrate = kbps;
        if config.ts_number_layers > 1 {
            for (target, rate) in
                config.ts_target_bitrate.iter_mut().zip(layer_rates(config.ts_number_layers as u8, kbps))
            {
                *target = rate;
            }
        }
    }

    fn controls(&self, _: u8) -> Vec<(vpx::vp8e_enc_control_id, i32)> {
        use vpx::vp8e_enc_control_id as id;
        vec![
            (id::VP8E_SET_CPUUSED, self.cpu_used.into()),
            (id::VP8E_SET_STATIC_THRESHOLD, self.static_threshold as i32),
            (id::VP8E_SET_NOISE_SENSITIVITY, self.noise_sensitivity.into()),
            (id::VP8E_SET_TOKEN_PARTITIONS, self.token_partitions.into()),
        ]
    }

    fn set_layer(layer: Layer) -> Control {
        Control::Int(vpx::vp8e_enc_control_id::VP8E_SET_TEMPORAL_LAYER_ID, layer.number.into())
    }

    fn set_drop_threshold(_: u32) -> Option<Control> {
        None
    }

    /// Converts y_ac_qi 0..=127 to libvpx's 0..=63: about half of it.
    fn quantizer(index: u8) -> u8 {
        index.min(127) / 2
    }

    fn quantizer_index(quantizer: u8) -> u8 {
        QUANTIZER_INDEX[usize::from(quantizer.min(63))]
    }
}
