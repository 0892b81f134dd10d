//! Owns openh264's encoder objects: the only module that calls through their function tables to encode.
#![allow(unsafe_code)]

use std::ffi::c_void;

use openh264_sys2 as wels;

use super::CODEC;
use crate::seam::EncodeError;

/// An openh264 encoder for one size.
pub(super) struct Handle {
    object: *mut wels::ISVCEncoder,
}

// SAFETY: the object is owned, has no thread affinity, and is only used through `&mut self`.
unsafe impl Send for Handle {}

/// The error for a failed call, with openh264's error code.
fn failed(call: &'static str, code: i32) -> EncodeError {
    let meaning = match code {
        wels::cmInitParaError => "a parameter is out of range",
        wels::cmMallocMemeError => "out of memory",
        wels::cmInitExpected => "not initialised",
        wels::cmUnsupportedData => "unsupported data",
        _ => "no reason given",
    };
    EncodeError::Library { codec: CODEC, call, reason: format!("{meaning} (code {code})") }
}

fn check(call: &'static str, code: i32) -> Result<(), EncodeError> {
    if code == wels::cmResultSuccess { Ok(()) } else { Err(failed(call, code)) }
}

/// Calls one function of an object's function table.
macro_rules! call {
    ($handle:expr, $function:ident $(, $argument:expr)*) => {
        match (**$handle.object).$function {
            Some(function) => check(stringify!($function), function($handle.object $(, $argument)*)),
            None => Err(failed(stringify!($function), -1)),
        }
    };
}

impl Handle {
    /// Opens an encoder with the library's default parameters, changed by `change`.
    pub(super) fn open(change: impl FnOnce(&mut wels::SEncParamExt)) -> Result<Handle, EncodeError> {
        let mut object: *mut wels::ISVCEncoder = std::ptr::null_mut();
        // SAFETY: the library writes a pointer to a new object, checked below, which `drop` destroys.
        let code = unsafe { wels::source::APILoader::WelsCreateSVCEncoder(&raw mut object) };
        if object.is_null() {
            return Err(failed("WelsCreateSVCEncoder", code));
        }
        let mut handle = Handle { object };
        // SAFETY: codec_app_def.h: int.
        unsafe { handle.set(wels::ENCODER_OPTION_TRACE_LEVEL, wels::WELS_LOG_QUIET)? };
        let mut parameters = wels::SEncParamExt::default();
        // SAFETY: the object is open; the library fills, then copies, the structure, which outlives both calls.
        unsafe { call!(handle, GetDefaultParams, &raw mut parameters)? };
        change(&mut parameters);
        // SAFETY: as above.
        unsafe { call!(handle, InitializeExt, &raw const parameters)? };
        Ok(handle)
    }

    /// # Safety
    /// `Value` must be the type that openh264 documents for `option`.
    unsafe fn set<Value>(&mut self, option: wels::ENCODER_OPTION, mut value: Value) -> Result<(), EncodeError> {
        // SAFETY: the value outlives the call and, by the caller's promise, has the option's type.
        unsafe { call!(self, SetOption, option, (&raw mut value).cast::<c_void>()) }
    }

    /// Sets the target rate in bit/s.
    pub(super) fn set_rate(&mut self, bps: i32) -> Result<(), EncodeError> {
        let target = wels::SBitrateInfo { iLayer: wels::SPATIAL_LAYER_ALL, iBitrate: bps };
        // SAFETY: codec_app_def.h: SBitrateInfo.
        unsafe { self.set(wels::ENCODER_OPTION_BITRATE, target) }
    }

    /// Sets the frame rate over which the rate is spread, in frames per second.
    pub(super) fn set_frame_rate(&mut self, frames: f32) -> Result<(), EncodeError> {
        // SAFETY: codec_app_def.h: float.
        unsafe { self.set(wels::ENCODER_OPTION_FRAME_RATE, frames) }
    }

    /// Sets whether rate control may skip frames.
    pub(super) fn set_frame_skip(&mut self, skip: bool) -> Result<(), EncodeError> {
        // SAFETY: welsEncoderExt.cpp reads a bool.
        unsafe { self.set(wels::ENCODER_OPTION_RC_FRAME_SKIP, skip) }
    }

    /// Makes the next frame an IDR.
    pub(super) fn force_keyframe(&mut self) -> Result<(), EncodeError> {
        // SAFETY: the object is open.
        unsafe { call!(self, ForceIntraFrame, true) }
    }

    /// Mean quantiser of the last frame.
    pub(super) fn quantizer(&mut self) -> Option<u8> {
        let mut statistics = wels::SEncoderStatistics::default();
        // SAFETY: this option writes one structure of this type.
        let got = unsafe {
            let pointer = (&raw mut statistics).cast::<c_void>();
            call!(self, GetOption, wels::ENCODER_OPTION_GET_STATISTICS, pointer)
        };
        got.ok().and_then(|()| u8::try_from(statistics.uiAverageFrameQP).ok())
    }

    /// Encodes a picture. Returns the frame's bytes with start codes and whether it is an IDR, or `None` when it was
    /// skipped.
    ///
    /// # Safety
    /// The planes of `source` must be readable as its size and strides say.
    pub(super) unsafe fn encode(
        &mut self,
        source: &wels::SSourcePicture,
    ) -> Result<Option<(Vec<u8>, bool)>, EncodeError> {
        let mut info = Box::<wels::SFrameBSInfo>::default();
        // SAFETY: the library only reads the picture, by the caller's promise, and fills `info`.
        unsafe { call!(self, EncodeFrame, &raw const *source, &raw mut *info)? };
        let mut data = Vec::with_capacity(usize::try_from(info.iFrameSizeInBytes).unwrap_or(0));
        let layers = usize::try_from(info.iLayerNum).unwrap_or(0);
        for layer in info.sLayerInfo.iter().take(layers) {
            // SAFETY: a layer has `iNalCount` lengths, whose sum is readable at its buffer until the next call on the
            // object.
            unsafe {
                let units = usize::try_from(layer.iNalCount).unwrap_or(0);
                let length: i32 = (0..units).map(|unit| *layer.pNalLengthInByte.add(unit)).sum();
                data.extend_from_slice(std::slice::from_raw_parts(layer.pBsBuf, usize::try_from(length).unwrap_or(0)));
            }
        }
        let skipped = data.is_empty() || info.eFrameType == wels::videoFrameTypeSkip;
        Ok((!skipped).then_some((data, info.eFrameType == wels::videoFrameTypeIDR)))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the object is open and is not used again. Closing one that was never initialised does nothing.
        unsafe {
            if let Some(uninitialize) = (**self.object).Uninitialize {
                uninitialize(self.object);
            }
            wels::source::APILoader::WelsDestroySVCEncoder(self.object);
        }
    }
}
