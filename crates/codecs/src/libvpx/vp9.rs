//! VP9 behind libvpx's interface.
#![allow(unsafe_code)]

use thalweg_types::Layer;
use thalweg_units::{ConfigError, check};
use vpx_sys as vpx;

use super::format::{Control, Format, Rates, common, layer_rates, set_pattern};
use super::settings::Vp9Settings;

/// Keyframes come on request only; libvpx is also kept from inserting its own (webm:1592, libwebrtc sets the same).
const KEYFRAME_INTERVAL: u32 = 3_000;

impl Format for Vp9Settings {
    common!("libvpx VP9", vpx_codec_vp9_cx);

    fn check(&self) -> Result<(), ConfigError> {
        check("cpu_used", self.cpu_used).within(5..=9, "7")?;
        check("aq_mode", self.aq_mode).is([0, 3].contains(&self.aq_mode), "0 (off) or 3 (cyclic refresh)")
    }

    /// With layers, frames are error-resilient, as in libwebrtc: a frame's probabilities and motion vectors do not
    /// carry over to others, so that any frame may be missing.
    fn configure(&self, layers: u8, config: &mut vpx::vpx_codec_enc_cfg) {
        config.kf_mode = vpx::vpx_kf_mode::VPX_KF_FIXED;
        config.kf_max_dist = KEYFRAME_INTERVAL;
        config.kf_min_dist = KEYFRAME_INTERVAL;
        config.ss_number_layers = 1;
        if layers > 1 {
            config.g_error_resilient = vpx::VPX_ERROR_RESILIENT_DEFAULT;
            set_pattern(layers, config);
            config.temporal_layering_mode = vpx::vp9e_temporal_layering_mode::VP9E_TEMPORAL_LAYERING_MODE_BYPASS as i32;
        } else {
            config.g_error_resilient = 0;
        }
    }

    fn set_rate(config: &mut vpx::vpx_codec_enc_cfg, kbps: u32) {
        config.rc_target_bitrate = kbps;
        let layers = config.ts_number_layers as u8;
        for (target, rate) in config.layer_target_bitrate.iter_mut().zip(layer_rates(layers, kbps)) {
            *target = rate;
        }
    }

    fn controls(&self, layers: u8) -> Vec<(vpx::vp8e_enc_control_id, i32)> {
        use vpx::vp8e_enc_control_id as id;
        // log2 of the tile columns, each at least 256 pixels wide; libwebrtc uses as many as threads, although one
        // would do without threads.
        let columns = self.threads.ilog2() as i32;
        let mut controls = vec![
            (id::VP8E_SET_CPUUSED, self.cpu_used.into()),
            (id::VP9E_SET_AQ_MODE, self.aq_mode.into()),
            (id::VP9E_SET_FRAME_PARALLEL_DECODING, 0),
            (id::VP9E_SET_TILE_COLUMNS, columns),
            (id::VP9E_SET_ROW_MT, (self.threads > 1).into()),
            (id::VP9E_SET_NOISE_SENSITIVITY, 0),
            (id::VP8E_SET_STATIC_THRESHOLD, self.static_threshold as i32),
        ];
        if layers > 1 {
            controls.push((id::VP9E_SET_SVC, 1));
        }
        controls
    }

    fn set_layer(layer: Layer) -> Control {
        let number = layer.number.into();
        Control::Layer(vpx::vpx_svc_layer_id {
            spatial_layer_id: 0,
            temporal_layer_id: number,
            temporal_layer_id_per_spatial: [number, 0, 0, 0, 0],
        })
    }

    /// With layers libvpx reads `rc_dropframe_thresh` only once (vp9/encoder/vp9_svc_layercontext.c).
    fn set_drop_threshold(percent: u32) -> Option<Control> {
        Some(Control::Drop(vpx::vpx_svc_frame_drop {
            framedrop_thresh: [percent as i32; 5],
            framedrop_mode: vpx::SVC_LAYER_DROP_MODE_LAYER_DROP,
            max_consec_drop: i32::MAX,
        }))
    }

    fn quantizer(index: u8) -> u8 {
        index / 4
    }

    /// `quantizer_to_qindex` of vp9/encoder/vp9_quantize.c: steps of four, except for the last two.
    fn quantizer_index(quantizer: u8) -> u8 {
        match quantizer {
            0..=61 => 4 * quantizer,
            62 => 249,
            _ => 255,
        }
    }
}
