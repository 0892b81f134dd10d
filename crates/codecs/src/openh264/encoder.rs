//! H.264 real-time encoding.
#![allow(unsafe_code)]

use std::sync::Arc;

use openh264_sys2 as wels;
use thalweg_types::{EncodePlan, EncodedFrame, Target};
use thalweg_units::{Bytes, Rate, Size, Span, above, check};
use thalweg_video::{Picture, Plane};

use super::CODEC;
use super::library::Handle;
use super::settings::{Complexity, Settings, Usage};
use crate::seam::{Candidate, EncodeError, Encoder, Image, at_size, latest_only};
use crate::single::SingleOffer;

/// An H.264 encoder: constrained baseline, each frame an access unit with start codes, parameter sets before each IDR.
pub struct H264Encoder {
    settings: Settings,
    largest: Size,
    stream: Option<Stream>,
    /// The time of the next picture.
    time: Span,
    offer: SingleOffer,
}

/// The openh264 encoder for one size, and its last settings.
struct Stream {
    handle: Handle,
    size: Size,
    rate: Rate,
    interval: Span,
    may_drop: bool,
}

impl H264Encoder {
    /// Creates an encoder for pictures of up to `largest`. The library itself is opened at the first picture.
    ///
    /// # Errors
    /// When a setting or the size is out of range.
    pub fn new(settings: Settings, largest: Size) -> Result<H264Encoder, EncodeError> {
        let (min, max) = (settings.min_quantizer, settings.max_quantizer);
        check("quantisers", format_args!("{min} to {max}"))
            .is(min <= max && max <= 51, "min <= max <= 51")
            .map_err(EncodeError::of_setting(CODEC))?;
        let (long, short) = (largest.width.max(largest.height), largest.width.min(largest.height));
        if long > 3840 || short > 2160 {
            let range = "at most 3840x2160 or 2160x3840 (level 5.2): choose a smaller size".into();
            return Err(EncodeError::Size { codec: CODEC, size: largest, range });
        }
        Ok(H264Encoder { settings, largest, stream: None, time: Span::ZERO, offer: SingleOffer::default() })
    }

    /// The stream for `plan`, reopened when the size changes (libwebrtc does the same).
    fn stream(&mut self, plan: &EncodePlan, rate: Rate) -> Result<&mut Stream, EncodeError> {
        match self.stream.take() {
            Some(mut stream) if stream.size == plan.size => {
                stream.update(plan, rate)?;
                Ok(self.stream.insert(stream))
            }
            _ => Ok(self.stream.insert(Stream::open(&self.settings, plan, rate)?)),
        }
    }
}

/// Frames per second, clamped to openh264's range.
fn frame_rate(interval: Span) -> f32 {
    (1.0 / interval.as_secs_f64()).clamp(1.0, 60.0) as f32
}

/// Bits per second, clamped to openh264's range.
fn bit_rate(rate: Rate) -> i32 {
    rate.as_bps().clamp(10_000, 500_000_000) as i32
}

impl Stream {
    fn open(settings: &Settings, plan: &EncodePlan, rate: Rate) -> Result<Stream, EncodeError> {
        let (width, height) = (i32::from(plan.size.width), i32::from(plan.size.height));
        let handle = Handle::open(|parameters| {
            parameters.iUsageType = match settings.usage {
                Usage::Camera => wels::CAMERA_VIDEO_REAL_TIME,
                Usage::Screen => wels::SCREEN_CONTENT_REAL_TIME,
            };
            parameters.iComplexityMode = match settings.complexity {
                Complexity::Low => wels::LOW_COMPLEXITY,
                Complexity::Medium => wels::MEDIUM_COMPLEXITY,
                Complexity::High => wels::HIGH_COMPLEXITY,
            };
            parameters.iPicWidth = width;
            parameters.iPicHeight = height;
            parameters.iTargetBitrate = bit_rate(rate);
            // libwebrtc's maximum does not mean the same as openh264's, so libwebrtc leaves it unset.
            parameters.iMaxBitrate = wels::UNSPECIFIED_BIT_RATE as i32;
            parameters.iRCMode = wels::RC_BITRATE_MODE;
            parameters.fMaxFrameRate = frame_rate(plan.interval);
            parameters.bEnableFrameSkip = plan.may_drop;
            parameters.uiIntraPeriod = 0;
            parameters.eSpsPpsIdStrategy = wels::SPS_LISTING;
            parameters.uiMaxNalSize = 0;
            parameters.iMultipleThreadIdc = 1;
            parameters.iMinQp = settings.min_quantizer.into();
            parameters.iMaxQp = settings.max_quantizer.into();
            parameters.bEnableAdaptiveQuant = settings.adaptive_quantizer;
            parameters.bEnableBackgroundDetection = settings.background_detection;
            parameters.bEnableSceneChangeDetect = settings.scene_change_detection;
            let layer = &mut parameters.sSpatialLayers[0];
            layer.iVideoWidth = width;
            layer.iVideoHeight = height;
            layer.fFrameRate = parameters.fMaxFrameRate;
            layer.iSpatialBitrate = parameters.iTargetBitrate;
            layer.iMaxSpatialBitrate = parameters.iMaxBitrate;
            layer.sSliceArgument.uiSliceMode = wels::SM_FIXEDSLCNUM_SLICE;
            layer.sSliceArgument.uiSliceNum = 1;
        })?;
        Ok(Stream { handle, size: plan.size, rate, interval: plan.interval, may_drop: plan.may_drop })
    }

    fn update(&mut self, plan: &EncodePlan, rate: Rate) -> Result<(), EncodeError> {
        if rate != self.rate {
            self.handle.set_rate(bit_rate(rate))?;
            self.rate = rate;
        }
        if plan.interval != self.interval {
            self.handle.set_frame_rate(frame_rate(plan.interval))?;
            self.interval = plan.interval;
        }
        if plan.may_drop != self.may_drop {
            self.handle.set_frame_skip(plan.may_drop)?;
            self.may_drop = plan.may_drop;
        }
        Ok(())
    }

    fn encode(&mut self, picture: &Picture, time: Span) -> Result<Option<Candidate>, EncodeError> {
        let size = picture.size();
        let mut source = wels::SSourcePicture {
            iColorFormat: wels::videoFormatI420,
            iPicWidth: size.width.into(),
            iPicHeight: size.height.into(),
            uiTimeStamp: time.as_millis(),
            ..wels::SSourcePicture::default()
        };
        for (index, plane) in Plane::ALL.into_iter().enumerate() {
            source.pData[index] = picture.plane(plane).as_ptr().cast_mut();
            source.iStride[index] = Picture::plane_size(size, plane).0 as i32;
        }
        // SAFETY: the planes point into `picture`, which outlives the call, and are as long as size and strides say.
        let Some((data, keyframe)) = (unsafe { self.handle.encode(&source)? }) else { return Ok(None) };
        let frame = EncodedFrame::new(Bytes::new(data.len() as u64), size).with(|frame| {
            frame.keyframe = keyframe;
            frame.quantizer = self.handle.quantizer();
        });
        Ok(Some(Candidate { data: Arc::from(data), frame, modelled: None }))
    }
}

fn target(largest: Size, plan: &EncodePlan) -> Result<Rate, EncodeError> {
    latest_only(CODEC, plan)?;
    let size = plan.size;
    let even = size.width.is_multiple_of(2) && size.height.is_multiple_of(2);
    if size.width > largest.width || size.height > largest.height || size.width < 16 || size.height < 16 || !even {
        let range =
            format!("16x16 to {largest}, the size it was opened at, both sides even; scale the video to such a size");
        return Err(EncodeError::Size { codec: CODEC, size, range });
    }
    let positive = check("plan.interval", plan.interval).within(above(Span::ZERO), "33.3ms");
    positive.map_err(EncodeError::of_setting(CODEC))?;
    match plan.targets[..] {
        [Target::Rate(rate)] => Ok(rate),
        _ => Err(EncodeError::Target {
            codec: CODEC,
            target: format!("{:?}", plan.targets),
            range: "one rate (a quantiser: vp8)".into(),
        }),
    }
}

impl Encoder for H264Encoder {
    fn offer(&mut self, image: Image<'_>, plan: &EncodePlan) -> Result<Vec<Candidate>, EncodeError> {
        let picture = image.picture.ok_or(EncodeError::Blank { codec: CODEC, size: image.size })?;
        let rate = target(self.largest, plan)?;
        let (keyframe, time) = (plan.keyframe || self.offer.owes_keyframe(plan.basis), self.time);
        let input = at_size(picture, plan.size);
        let stream = self.stream(plan, rate)?;
        if keyframe {
            stream.handle.force_keyframe()?;
        }
        let candidate = stream.encode(&input, time)?;
        self.time += plan.interval;
        self.offer.on_encoded(plan.basis, keyframe, candidate.is_some());
        Ok(candidate.into_iter().collect())
    }

    fn commit(&mut self, choice: Option<usize>) -> Result<(), EncodeError> {
        self.offer.commit(choice)
    }

    fn settings(&self) -> String {
        self.settings.to_string()
    }
}
