//! libvpx's VP8 encoder in real time, as the thing to compare with.
#![allow(unsafe_code)]

use thalweg_vp8::kernels::Kernels;
use thalweg_vp8::{Image, Plane};
use vpx_sys as vpx;

/// An encoder, and the decoder's view of what it made.
pub struct Encoder {
    context: Box<vpx::vpx_codec_ctx_t>,
    timestamp: i64,
}

impl Encoder {
    /// An encoder at a constant bit rate, kbit/s.
    pub fn new(width: u32, height: u32, frames_per_second: f64, rate: u32, cpu_used: i32) -> Encoder {
        let mut config = Box::<vpx::vpx_codec_enc_cfg>::default();
        let mut context = Box::<vpx::vpx_codec_ctx_t>::default();
        // SAFETY: configuration and context outlive the calls, which fill them.
        unsafe {
            assert_eq!(vpx::vpx_codec_enc_config_default(vpx::vpx_codec_vp8_cx(), &mut *config, 0), vpx::VPX_CODEC_OK);
            config.g_w = width;
            config.g_h = height;
            config.g_threads = 1;
            config.g_timebase = vpx::vpx_rational { num: 1000, den: (frames_per_second * 1000.0).round() as i32 };
            config.g_error_resilient = 0;
            config.g_pass = vpx::vpx_enc_pass::VPX_RC_ONE_PASS;
            config.g_lag_in_frames = 0;
            config.rc_dropframe_thresh = 0;
            config.rc_end_usage = vpx::vpx_rc_mode::VPX_CBR;
            (config.rc_min_quantizer, config.rc_max_quantizer) = (2, 63);
            config.rc_target_bitrate = rate;
            (config.rc_undershoot_pct, config.rc_overshoot_pct) = (100, 15);
            (config.rc_buf_sz, config.rc_buf_initial_sz, config.rc_buf_optimal_sz) = (1000, 500, 600);
            config.kf_mode = vpx::vpx_kf_mode::VPX_KF_AUTO;
            config.kf_max_dist = 3000;
            let version = vpx::VPX_ENCODER_ABI_VERSION as i32;
            let status = vpx::vpx_codec_enc_init_ver(&mut *context, vpx::vpx_codec_vp8_cx(), &*config, 0, version);
            assert_eq!(status, vpx::VPX_CODEC_OK);
            use vpx::vp8e_enc_control_id as id;
            for (control, value) in [
                (id::VP8E_SET_CPUUSED, cpu_used),
                (id::VP8E_SET_STATIC_THRESHOLD, 1),
                (id::VP8E_SET_NOISE_SENSITIVITY, 0),
                (id::VP8E_SET_TOKEN_PARTITIONS, 0),
                (id::VP8E_SET_MAX_INTRA_BITRATE_PCT, 900),
            ] {
                assert_eq!(vpx::vpx_codec_control_(&mut *context, control as i32, value), vpx::VPX_CODEC_OK);
            }
        }
        Encoder { context, timestamp: 0 }
    }

    /// The next frame's bytes.
    pub fn encode(&mut self, image: &Image) -> Vec<u8> {
        let mut data = Vec::new();
        // SAFETY: libvpx reads the image's planes during the call only, and what it returns is copied before the next.
        unsafe {
            let mut wrapped = vpx::vpx_image_t::default();
            let (width, height) = (image.size().width() as u32, image.size().height() as u32);
            let format = vpx::vpx_img_fmt::VPX_IMG_FMT_I420;
            let luma = image.plane(Plane::Y).as_ptr().cast_mut();
            assert!(!vpx::vpx_img_wrap(&mut wrapped, format, width, height, 1, luma).is_null());
            for (index, plane) in Plane::ALL.into_iter().enumerate() {
                wrapped.planes[index] = image.plane(plane).as_ptr().cast_mut();
                wrapped.stride[index] = image.stride(plane) as i32;
            }
            let deadline = vpx::VPX_DL_REALTIME;
            let status = vpx::vpx_codec_encode(&mut *self.context, &wrapped, self.timestamp, 1, 0, deadline as _);
            assert_eq!(status, vpx::VPX_CODEC_OK);
            self.timestamp += 1;
            let mut iterator: vpx::vpx_codec_iter_t = std::ptr::null();
            while let Some(packet) = vpx::vpx_codec_get_cx_data(&mut *self.context, &mut iterator).as_ref() {
                if packet.kind == vpx::vpx_codec_cx_pkt_kind::VPX_CODEC_CX_FRAME_PKT {
                    let frame = packet.data.frame;
                    data.extend_from_slice(std::slice::from_raw_parts(frame.buf.cast::<u8>(), frame.sz as usize));
                }
            }
        }
        data
    }

    /// The squared error of libvpx's own reconstruction of the last frame's luma.
    pub fn error(&mut self, image: &Image) -> u64 {
        // SAFETY: the preview is valid until the next call on the context, its rows as long as it says.
        unsafe {
            let preview = vpx::vpx_codec_get_preview_frame(&mut *self.context).as_ref().expect("a preview");
            let theirs = |row: usize, width: usize| {
                let start = preview.planes[0].offset(row as isize * preview.stride[0] as isize);
                std::slice::from_raw_parts(start, width)
            };
            let rows = image.shown_rows(Plane::Y).enumerate();
            rows.map(|(row, ours)| Kernels::detected().sse_row(ours, theirs(row, ours.len()))).sum()
        }
    }
}

impl Drop for Encoder {
    fn drop(&mut self) {
        // SAFETY: the context was initialised and is not used again.
        unsafe { vpx::vpx_codec_destroy(&mut *self.context) };
    }
}
