//! VP8 encoding in real time.
#![allow(unsafe_code)]

use std::sync::Arc;

use thalweg_sender::frames::{EncodePlan, EncodedFrame, Target};
use thalweg_units::{Bytes, Rate, Size};
use thalweg_video::{Picture, Plane};
use vpx_sys as vpx;

use super::settings::Settings;
use super::windup::Windup;
use super::words;
use crate::seam::{Candidate, EncodeError, Encoder, Image, at_size, latest_only};
use crate::single::SingleOffer;

const CODEC: &str = "libvpx VP8";
/// Time stamps count in these of a second (RTP's video clock).
const CLOCK: i64 = 90_000;
/// A keyframe at least every so many frames (libwebrtc's `keyFrameInterval`).
const KEYFRAME_INTERVAL: u32 = 3_000;

/// The quantiser index (0..=127) that libvpx's quantiser 0..=63 stands for (`vp8/encoder/onyx_if.c`, `q_trans`: RFC 6386 has
/// the index only).
const QUANTIZER_INDEX: [u8; 64] = [
    0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 27, 28, 29, 30, 31, 33, 35, 37, 39,
    41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 64, 67, 70, 73, 76, 79, 82, 85, 88, 91, 94, 97, 100, 103, 106, 109,
    112, 115, 118, 121, 124, 127,
];

/// A VP8 encoder. It is opened at the largest size it will be asked for, since libvpx refuses to grow beyond that.
pub struct Vp8Encoder {
    context: Box<vpx::vpx_codec_ctx_t>,
    config: Box<vpx::vpx_codec_enc_cfg>,
    settings: Settings,
    largest: Size,
    timestamp: i64,
    offer: SingleOffer,
    quantizers: (u8, u8),
    windup: Windup,
}

// SAFETY: the context is owned, has no thread affinity, and is only used through `&mut self`.
unsafe impl Send for Vp8Encoder {}

impl Vp8Encoder {
    /// An encoder for pictures of up to `largest`.
    ///
    /// # Errors
    /// When a setting or the size is out of range, or libvpx cannot be set up.
    pub fn new(settings: Settings, largest: Size) -> Result<Vp8Encoder, EncodeError> {
        check(&settings)?;
        let mut config = Box::<vpx::vpx_codec_enc_cfg>::default();
        // SAFETY: libvpx fills the structure it is given.
        let status = unsafe { vpx::vpx_codec_enc_config_default(vpx::vpx_codec_vp8_cx(), &mut *config, 0) };
        if status != vpx::VPX_CODEC_OK {
            return Err(EncodeError::Library {
                codec: CODEC,
                call: "vpx_codec_enc_config_default",
                reason: "the library's version differs from the one this was built for".into(),
            });
        }
        let (buffer, initial, optimal) = settings.rate_buffer.millis();
        config.g_w = largest.width.into();
        config.g_h = largest.height.into();
        config.g_threads = settings.threads.into();
        config.g_timebase = vpx::vpx_rational { num: 1, den: CLOCK as i32 };
        config.g_error_resilient = 0;
        config.g_pass = vpx::vpx_enc_pass::VPX_RC_ONE_PASS;
        config.g_lag_in_frames = 0;
        config.rc_dropframe_thresh = settings.drop_frame_threshold.into();
        config.rc_resize_allowed = 0;
        config.rc_end_usage = vpx::vpx_rc_mode::VPX_CBR;
        config.rc_target_bitrate = 300;
        config.rc_min_quantizer = settings.min_quantizer.into();
        config.rc_max_quantizer = settings.max_quantizer.into();
        config.rc_undershoot_pct = settings.undershoot_percent;
        config.rc_overshoot_pct = settings.overshoot_percent;
        config.rc_buf_sz = buffer;
        config.rc_buf_initial_sz = initial;
        config.rc_buf_optimal_sz = optimal;
        config.kf_mode = vpx::vpx_kf_mode::VPX_KF_AUTO;
        config.kf_max_dist = KEYFRAME_INTERVAL;
        let mut context = Box::<vpx::vpx_codec_ctx_t>::default();
        // SAFETY: context and configuration outlive the call.
        let status = unsafe {
            let version = vpx::VPX_ENCODER_ABI_VERSION as i32;
            vpx::vpx_codec_enc_init_ver(&mut *context, vpx::vpx_codec_vp8_cx(), &*config, 0, version)
        };
        if status != vpx::VPX_CODEC_OK {
            let reason = words(&mut context);
            return Err(EncodeError::Library { codec: CODEC, call: "vpx_codec_enc_init", reason });
        }
        let quantizers = (settings.min_quantizer, settings.max_quantizer);
        let mut encoder = Vp8Encoder {
            context,
            config,
            settings,
            largest,
            timestamp: 0,
            offer: SingleOffer::default(),
            quantizers,
            windup: Windup::default(),
        };
        encoder.set_controls()?;
        Ok(encoder)
    }

    fn set_controls(&mut self) -> Result<(), EncodeError> {
        use vpx::vp8e_enc_control_id as id;
        // libwebrtc's MaxIntraTarget: half of the optimal buffer at 30 frames a second, in percent of a frame.
        let max_intra = (self.config.rc_buf_optimal_sz * 30 / 2 / 10).max(300);
        for (control, value) in [
            (id::VP8E_SET_CPUUSED, i32::from(self.settings.cpu_used)),
            (id::VP8E_SET_STATIC_THRESHOLD, self.settings.static_threshold as i32),
            (id::VP8E_SET_NOISE_SENSITIVITY, i32::from(self.settings.noise_sensitivity)),
            (id::VP8E_SET_TOKEN_PARTITIONS, i32::from(self.settings.token_partitions)),
            (id::VP8E_SET_MAX_INTRA_BITRATE_PCT, max_intra as i32),
        ] {
            // SAFETY: each of these controls takes one int.
            let status = unsafe { vpx::vpx_codec_control_(&mut *self.context, control as i32, value) };
            self.check(status, "vpx_codec_control")?;
        }
        Ok(())
    }

    fn check(&mut self, status: vpx::vpx_codec_err_t, call: &'static str) -> Result<(), EncodeError> {
        if status == vpx::VPX_CODEC_OK {
            return Ok(());
        }
        Err(EncodeError::Library { codec: CODEC, call, reason: words(&mut self.context) })
    }

    /// Sets rate, size and quantiser range; whether the size changed.
    fn configure(
        &mut self,
        size: Size,
        rate: Option<Rate>,
        quantizers: (u8, u8),
        may_drop: bool,
    ) -> Result<bool, EncodeError> {
        let threshold = if may_drop { self.settings.drop_frame_threshold.into() } else { 0 };
        let kbps = rate.map_or(self.config.rc_target_bitrate, |rate| (rate.as_bps() / 1000).clamp(1, 1_000_000) as u32);
        let resized = (self.config.g_w, self.config.g_h) != (size.width.into(), size.height.into());
        let same = kbps == self.config.rc_target_bitrate
            && quantizers == self.quantizers
            && threshold == self.config.rc_dropframe_thresh;
        if !resized && same {
            return Ok(false);
        }
        self.config.g_w = size.width.into();
        self.config.g_h = size.height.into();
        self.config.rc_target_bitrate = kbps;
        self.config.rc_dropframe_thresh = threshold;
        self.config.rc_min_quantizer = quantizers.0.into();
        self.config.rc_max_quantizer = quantizers.1.into();
        self.quantizers = quantizers;
        // SAFETY: the configuration outlives the call.
        let status = unsafe { vpx::vpx_codec_enc_config_set(&mut *self.context, &*self.config) };
        self.check(status, "vpx_codec_enc_config_set")?;
        Ok(resized)
    }

    fn encode(&mut self, picture: &Picture, keyframe: bool, duration: i64) -> Result<Option<Candidate>, EncodeError> {
        let size = picture.size();
        let mut image = vpx::vpx_image_t::default();
        // SAFETY: libvpx only reads from the image's planes, which point into `picture` and outlive the call. The first plane
        // pointer is passed only because vpx_img_wrap wants one; all three are set right after.
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
            let flags = if keyframe { i64::from(vpx::VPX_EFLAG_FORCE_KF) } else { 0 };
            vpx::vpx_codec_encode(
                &mut *self.context,
                &image,
                self.timestamp,
                duration as _,
                flags as _,
                vpx::VPX_DL_REALTIME as _,
            )
        };
        self.timestamp += duration;
        self.check(status, "vpx_codec_encode")?;
        let mut data = Vec::new();
        let mut is_key = false;
        let mut iterator: vpx::vpx_codec_iter_t = std::ptr::null();
        // SAFETY: packets are valid until the next call on the context; of a frame packet, `sz` bytes at `buf` are copied.
        unsafe {
            while let Some(packet) = vpx::vpx_codec_get_cx_data(&mut *self.context, &mut iterator).as_ref() {
                if packet.kind == vpx::vpx_codec_cx_pkt_kind::VPX_CODEC_CX_FRAME_PKT {
                    let frame = packet.data.frame;
                    data.extend_from_slice(std::slice::from_raw_parts(frame.buf.cast::<u8>(), frame.sz as usize));
                    is_key |= u64::from(frame.flags) & u64::from(vpx::VPX_FRAME_IS_KEY) != 0;
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
        let frame = EncodedFrame {
            size: Bytes::new(data.len() as u64),
            keyframe: is_key,
            quantizer: u8::try_from(quantizer).ok(),
            picture: size,
            transition: None,
        };
        Ok(Some(Candidate { data: Arc::from(data), frame, modelled: None }))
    }
}

fn check(settings: &Settings) -> Result<(), EncodeError> {
    let refuse = |target: String, range: &str| Err(EncodeError::Target { codec: CODEC, target, range: range.into() });
    if !(-16..=-1).contains(&settings.cpu_used) {
        let range = "-16 to -1: zero and above adapt to the wall clock, and runs would not repeat";
        return refuse(format!("cpu_used {}", settings.cpu_used), range);
    }
    if settings.min_quantizer > settings.max_quantizer || settings.max_quantizer > 63 {
        let target = format!("quantisers {} to {}", settings.min_quantizer, settings.max_quantizer);
        return refuse(target, "min <= max <= 63");
    }
    if settings.drop_frame_threshold > 100 {
        return refuse(format!("drop_frame_threshold {}", settings.drop_frame_threshold), "0 to 100 percent");
    }
    if settings.noise_sensitivity > 6 || settings.token_partitions > 3 || !(1..=16).contains(&settings.threads) {
        let target = format!(
            "noise_sensitivity {}, token_partitions {}, threads {}",
            settings.noise_sensitivity, settings.token_partitions, settings.threads
        );
        return refuse(target, "0 to 6, 0 to 3 and 1 to 16");
    }
    Ok(())
}

impl Encoder for Vp8Encoder {
    fn offer(&mut self, image: Image<'_>, plan: &EncodePlan) -> Result<Vec<Candidate>, EncodeError> {
        let picture = image.picture.ok_or(EncodeError::Blank { codec: CODEC, size: image.size })?;
        latest_only(CODEC, plan)?;
        let size = plan.size;
        if size.width > self.largest.width || size.height > self.largest.height || size.width < 2 || size.height < 2 {
            let range = format!("2x2 to {}, the size it was opened at; open it at the largest", self.largest);
            return Err(EncodeError::Size { codec: CODEC, size, range });
        }
        let range = (self.settings.min_quantizer, self.settings.max_quantizer);
        let (rate, quantizers) = match plan.targets[..] {
            [Target::Rate(rate)] => (Some(rate), range),
            // y_ac_qi 0..=127 to libvpx's 0..=63, which is near enough to half of it.
            [Target::Quantizer(quantizer)] => (None, (quantizer.min(127) / 2, quantizer.min(127) / 2)),
            _ => {
                return Err(EncodeError::Target {
                    codec: CODEC,
                    target: format!("{:?}", plan.targets),
                    range: "one rate or one quantiser; a functional codec can do more".into(),
                });
            }
        };
        // Where libvpx may drop frames, that ends its debts.
        let bounded = self.settings.bound_debt && !plan.may_drop;
        let rate = rate.map(|rate| if bounded { self.windup.rate_to_ask(rate) } else { rate });
        let resized = self.configure(size, rate, quantizers, plan.may_drop)?;
        let duration = (plan.interval.as_nanos() * CLOCK / 1_000_000_000).max(1);
        let keyframe = plan.keyframe || resized || self.offer.owes_keyframe();
        let input = at_size(picture, size);
        let candidate = self.encode(&input, keyframe, duration)?;
        if let Some(candidate) = &candidate {
            let frame = &candidate.frame;
            let coarsest = frame.quantizer.is_some_and(|index| index >= QUANTIZER_INDEX[usize::from(quantizers.1)]);
            self.windup.on_frame(frame.size, plan.interval, coarsest, frame.keyframe);
        }
        self.offer.on_encoded(keyframe, candidate.is_some());
        Ok(candidate.into_iter().collect())
    }

    fn commit(&mut self, choice: Option<usize>) -> Result<(), EncodeError> {
        self.offer.commit(choice)
    }

    fn settings(&self) -> String {
        self.settings.to_string()
    }
}

impl Drop for Vp8Encoder {
    fn drop(&mut self) {
        // SAFETY: the context was initialised and is not used again.
        unsafe { vpx::vpx_codec_destroy(&mut *self.context) };
    }
}
