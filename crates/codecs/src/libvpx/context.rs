//! Owns libvpx's encoder context.
#![allow(unsafe_code)]

use std::marker::PhantomData;

use thalweg_types::Layer;
use thalweg_units::Size;
use thalweg_video::{Picture, Plane};
use vpx_sys as vpx;

use super::format::{Control, Format, Rates};
use super::words;
use crate::seam::EncodeError;

/// Ticks per second of time stamps (RTP's video clock).
pub const CLOCK: i64 = 90_000;

/// A libvpx encoder context with its configuration.
pub struct Context<F: Format> {
    context: Box<vpx::vpx_codec_ctx_t>,
    config: Box<vpx::vpx_codec_enc_cfg>,
    layers: u8,
    format: PhantomData<fn() -> F>,
}

// SAFETY: the context is owned, has no thread affinity, and is only used through `&mut self`.
unsafe impl<F: Format> Send for Context<F> {}

/// Parameters that may change between frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// The size of the next picture.
    pub size: Size,
    /// The target rate in kbit/s; `None` leaves it unchanged.
    pub kbps: Option<u32>,
    /// The finest and the coarsest quantiser, 0..=63.
    pub quantizers: (u8, u8),
    /// `rc_dropframe_thresh`, in percent.
    pub drop_frame_threshold: u32,
}

/// An encoded frame from libvpx.
pub struct Made {
    /// Its bytes.
    pub data: Vec<u8>,
    /// True for a keyframe.
    pub keyframe: bool,
    /// The quantiser index it was encoded with.
    pub quantizer: Option<u8>,
}

impl<F: Format> Context<F> {
    /// Opens an encoder for pictures of up to `largest` in this number of temporal layers.
    ///
    /// # Errors
    /// When libvpx cannot be set up.
    pub fn open(format: &F, largest: Size, layers: u8) -> Result<Context<F>, EncodeError> {
        let mut config = Box::<vpx::vpx_codec_enc_cfg>::default();
        // SAFETY: libvpx fills the structure it is given.
        let status = unsafe { vpx::vpx_codec_enc_config_default(F::interface(), &mut *config, 0) };
        if status != vpx::VPX_CODEC_OK {
            return Err(EncodeError::Library {
                codec: F::CODEC,
                call: "vpx_codec_enc_config_default",
                reason: "the library's version differs from the one this was built for".into(),
            });
        }
        let Rates { buffer, quantizers, drop_frame_threshold, undershoot_percent, overshoot_percent, threads, .. } =
            format.rates();
        let (buffer, initial, optimal) = buffer.millis();
        config.g_w = largest.width.into();
        config.g_h = largest.height.into();
        config.g_threads = threads.into();
        config.g_timebase = vpx::vpx_rational { num: 1, den: CLOCK as i32 };
        config.g_pass = vpx::vpx_enc_pass::VPX_RC_ONE_PASS;
        config.g_lag_in_frames = 0;
        config.rc_dropframe_thresh = drop_frame_threshold.into();
        config.rc_resize_allowed = 0;
        config.rc_end_usage = vpx::vpx_rc_mode::VPX_CBR;
        config.rc_min_quantizer = quantizers.0.into();
        config.rc_max_quantizer = quantizers.1.into();
        config.rc_undershoot_pct = undershoot_percent;
        config.rc_overshoot_pct = overshoot_percent;
        config.rc_buf_sz = buffer;
        config.rc_buf_initial_sz = initial;
        config.rc_buf_optimal_sz = optimal;
        format.configure(layers, &mut config);
        F::set_rate(&mut config, 300);
        let mut context = Box::<vpx::vpx_codec_ctx_t>::default();
        // SAFETY: context and configuration outlive the call.
        let status = unsafe {
            let version = vpx::VPX_ENCODER_ABI_VERSION as i32;
            vpx::vpx_codec_enc_init_ver(&mut *context, F::interface(), &*config, 0, version)
        };
        if status != vpx::VPX_CODEC_OK {
            let reason = words(&mut context);
            return Err(EncodeError::Library { codec: F::CODEC, call: "vpx_codec_enc_init", reason });
        }
        let mut opened = Context { context, config, layers, format: PhantomData };
        // libwebrtc's MaxIntraTarget: half of the optimal buffer at 30 frames a second, in percent of a frame.
        let max_intra = (opened.config.rc_buf_optimal_sz * 30 / 2 / 10).max(300);
        let max_intra = (vpx::vp8e_enc_control_id::VP8E_SET_MAX_INTRA_BITRATE_PCT, max_intra as i32);
        for (control, value) in format.controls(layers).into_iter().chain([max_intra]) {
            opened.control(Control::Int(control, value))?;
        }
        Ok(opened)
    }

    /// Number of temporal layers it was opened for.
    pub fn layers(&self) -> u8 {
        self.layers
    }

    fn check(&mut self, status: vpx::vpx_codec_err_t, call: &'static str) -> Result<(), EncodeError> {
        if status == vpx::VPX_CODEC_OK {
            return Ok(());
        }
        Err(EncodeError::Library { codec: F::CODEC, call, reason: words(&mut self.context) })
    }

    fn control(&mut self, control: Control) -> Result<(), EncodeError> {
        use vpx::vp8e_enc_control_id as id;
        let context = &mut *self.context;
        // SAFETY: each control receives an argument of its own type; libvpx copies what it needs of structures during
        // the call.
        let status = unsafe {
            match control {
                Control::Int(control, value) => vpx::vpx_codec_control_(context, control as i32, value),
                Control::Layer(mut layer) => {
                    vpx::vpx_codec_control_(context, id::VP9E_SET_SVC_LAYER_ID as i32, &raw mut layer)
                }
                Control::Drop(mut drop) => {
                    vpx::vpx_codec_control_(context, id::VP9E_SET_SVC_FRAME_DROP_LAYER as i32, &raw mut drop)
                }
            }
        };
        self.check(status, "vpx_codec_control")
    }

    /// Sets rate, size and quantiser range; returns whether the size changed.
    ///
    /// # Errors
    /// When libvpx rejects the configuration.
    pub fn configure(&mut self, parameters: Parameters) -> Result<bool, EncodeError> {
        let Parameters { size, kbps, quantizers, drop_frame_threshold } = parameters;
        let kbps = kbps.unwrap_or(self.config.rc_target_bitrate);
        let quantizers = (quantizers.0.into(), quantizers.1.into());
        let resized = (self.config.g_w, self.config.g_h) != (size.width.into(), size.height.into());
        let same = kbps == self.config.rc_target_bitrate
            && quantizers == (self.config.rc_min_quantizer, self.config.rc_max_quantizer)
            && drop_frame_threshold == self.config.rc_dropframe_thresh;
        if !resized && same {
            return Ok(false);
        }
        self.config.g_w = size.width.into();
        self.config.g_h = size.height.into();
        F::set_rate(&mut self.config, kbps);
        self.config.rc_dropframe_thresh = drop_frame_threshold;
        (self.config.rc_min_quantizer, self.config.rc_max_quantizer) = quantizers;
        // SAFETY: the configuration outlives the call.
        let status = unsafe { vpx::vpx_codec_enc_config_set(&mut *self.context, &*self.config) };
        self.check(status, "vpx_codec_enc_config_set")?;
        if let Some(control) = F::set_drop_threshold(drop_frame_threshold)
            && self.layers > 1
        {
            self.control(control)?;
        }
        Ok(resized)
    }

    /// Sets the temporal layer of the next frame.
    ///
    /// # Errors
    /// When libvpx rejects the layer.
    pub fn set_layer(&mut self, layer: Layer) -> Result<(), EncodeError> {
        self.control(F::set_layer(layer))
    }

    /// Encodes a picture; `None` when rate control dropped it. `flags` are those of `vpx_codec_encode`; times are in
    /// units of 1/[`CLOCK`] s.
    ///
    /// # Errors
    /// When libvpx fails to encode.
    pub fn encode(
        &mut self,
        picture: &Picture,
        timestamp: i64,
        duration: i64,
        flags: u32,
    ) -> Result<Option<Made>, EncodeError> {
        let size = picture.size();
        let mut image = vpx::vpx_image_t::default();
        // SAFETY: libvpx only reads from the image's planes, which point into `picture` and outlive the call. The first
        // plane pointer is passed only because vpx_img_wrap wants one; all three are set right after.
        let status = unsafe {
            let wrapped = vpx::vpx_img_wrap(
                &mut image,
                vpx::vpx_img_fmt::VPX_IMG_FMT_I420,
                size.width.into(),
                size.height.into(),
                1,
                picture.data().as_ptr().cast_mut(),
            );
            debug_assert!(!wrapped.is_null());
            for (index, plane) in Plane::ALL.into_iter().enumerate() {
                image.planes[index] = picture.plane(plane).as_ptr().cast_mut();
                image.stride[index] = Picture::plane_size(size, plane).0 as i32;
            }
            vpx::vpx_codec_encode(
                &mut *self.context,
                &image,
                timestamp,
                duration as _,
                flags as _,
                vpx::VPX_DL_REALTIME as _,
            )
        };
        self.check(status, "vpx_codec_encode")?;
        let mut data = Vec::new();
        let mut keyframe = false;
        let mut iterator: vpx::vpx_codec_iter_t = std::ptr::null();
        // SAFETY: packets are valid until the next call on the context; of a frame packet, `sz` bytes at `buf` are
        // copied.
        unsafe {
            while let Some(packet) = vpx::vpx_codec_get_cx_data(&mut *self.context, &mut iterator).as_ref() {
                if packet.kind == vpx::vpx_codec_cx_pkt_kind::VPX_CODEC_CX_FRAME_PKT {
                    let frame = packet.data.frame;
                    data.extend_from_slice(std::slice::from_raw_parts(frame.buf.cast::<u8>(), frame.sz as usize));
                    keyframe |= u64::from(frame.flags) & u64::from(vpx::VPX_FRAME_IS_KEY) != 0;
                }
            }
        }
        if data.is_empty() {
            return Ok(None);
        }
        let mut quantizer = 0i32;
        // SAFETY: this control writes one int.
        unsafe {
            let control = vpx::vp8e_enc_control_id::VP8E_GET_LAST_QUANTIZER as i32;
            vpx::vpx_codec_control_(&mut *self.context, control, &raw mut quantizer);
        }
        Ok(Some(Made { data, keyframe, quantizer: u8::try_from(quantizer).ok() }))
    }
}

impl<F: Format> Drop for Context<F> {
    fn drop(&mut self) {
        // SAFETY: the context was initialised and is not used again.
        unsafe { vpx::vpx_codec_destroy(&mut *self.context) };
    }
}
