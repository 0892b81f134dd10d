//! H.264 decoding.
#![allow(unsafe_code)]

use openh264_sys2 as wels;
use thalweg_units::Size;
use thalweg_video::{Picture, Plane};

use super::CODEC;
use crate::seam::{DecodeError, Decoder};

/// An H.264 decoder without error concealment: incomplete frames are errors.
pub struct H264Decoder {
    object: *mut wels::ISVCDecoder,
    /// True once an IDR has been decoded.
    started: bool,
}

// SAFETY: the object is owned, has no thread affinity, and is only used through `&mut self`.
unsafe impl Send for H264Decoder {}

impl H264Decoder {
    /// Creates a decoder that waits for an IDR.
    ///
    /// # Errors
    /// When openh264 cannot be set up (out of memory).
    pub fn new() -> Result<H264Decoder, DecodeError> {
        let error = |reason: &str| DecodeError { codec: CODEC, length: 0, reason: reason.into() };
        let mut object: *mut wels::ISVCDecoder = std::ptr::null_mut();
        // SAFETY: the library writes a pointer to a new object, checked below, which `drop` destroys.
        unsafe { wels::source::APILoader::WelsCreateDecoder(&raw mut object) };
        if object.is_null() {
            return Err(error("WelsCreateDecoder failed: out of memory"));
        }
        let decoder = H264Decoder { object, started: false };
        let mut parameters =
            wels::SDecodingParam { eEcActiveIdc: wels::ERROR_CON_DISABLE, ..wels::SDecodingParam::default() };
        parameters.sVideoProperty.eVideoBsType = wels::VIDEO_BITSTREAM_AVC;
        let mut quiet = wels::WELS_LOG_QUIET;
        // SAFETY: the object is open; level and parameters outlive the calls, and the library copies what it keeps.
        let status = unsafe {
            let table = &**decoder.object;
            let (Some(set), Some(initialize)) = (table.SetOption, table.Initialize) else {
                return Err(error("a function is missing"));
            };
            set(decoder.object, wels::DECODER_OPTION_TRACE_LEVEL, (&raw mut quiet).cast());
            initialize(decoder.object, &raw const parameters)
        };
        if status != 0 {
            return Err(error(&format!("Initialize failed with code {status}")));
        }
        Ok(decoder)
    }
}

/// openh264's error description, from the bits of its decoding state.
fn words(state: i32) -> String {
    let names = [
        (wels::dsRefLost, "a reference is missing"),
        (wels::dsBitstreamError, "the bits are damaged"),
        (wels::dsDepLayerLost, "a layer is missing"),
        (wels::dsNoParamSets, "no parameter sets came before it: it needs a keyframe"),
        (wels::dsDataErrorConcealed, "damage was concealed"),
        (wels::dsRefListNullPtrs, "the reference list is empty"),
        (wels::dsInvalidArgument, "an argument is wrong"),
        (wels::dsInitialOptExpected, "not initialised"),
        (wels::dsOutOfMemory, "out of memory"),
        (wels::dsDstBufNeedExpan, "the buffer is too small"),
    ];
    let said: Vec<&str> = names.into_iter().filter(|(bit, _)| state & bit != 0).map(|(_, name)| name).collect();
    if said.is_empty() { format!("state {state}") } else { said.join(", ") }
}

impl Decoder for H264Decoder {
    fn decode(&mut self, data: &[u8]) -> Result<Option<Picture>, DecodeError> {
        let error = |reason: String| DecodeError { codec: CODEC, length: data.len(), reason };
        let length = i32::try_from(data.len()).map_err(|_| error("longer than 2 GB".into()))?;
        if data.is_empty() {
            return Err(error("empty".into()));
        }
        let mut planes = [std::ptr::null_mut::<u8>(); 3];
        let mut info = wels::SBufferInfo::default();
        // SAFETY: `data` is readable for `length` bytes during the call, which writes three pointers and `info`.
        let state = unsafe {
            let Some(decode) = (**self.object).DecodeFrameNoDelay else {
                return Err(error("a function is missing".into()));
            };
            decode(self.object, data.as_ptr(), length, planes.as_mut_ptr(), &raw mut info)
        };
        if state != wels::dsErrorFree {
            return Err(error(words(state)));
        }
        if info.iBufferStatus != 1 || planes.iter().any(|plane| plane.is_null()) {
            if self.started {
                return Ok(None);
            }
            return Err(error("no picture in it: it needs a keyframe".into()));
        }
        self.started = true;
        // SAFETY: a picture is ready: the union holds its layout, and the planes stay valid until the next call.
        unsafe { Ok(Some(copy(planes, &info.UsrData.sSystemBuffer))) }
    }
}

/// # Safety
/// `planes` are those of an I420 picture laid out as `layout` says.
unsafe fn copy(planes: [*mut u8; 3], layout: &wels::SSysMEMBuffer) -> Picture {
    let size = Size::new(layout.iWidth as u16, layout.iHeight as u16);
    let mut picture = Picture::filled(size, 0, 0, 0);
    for (index, plane) in Plane::ALL.into_iter().enumerate() {
        let width = Picture::plane_size(size, plane).0;
        let stride = layout.iStride[usize::from(index > 0)] as usize;
        for (row, out) in picture.plane_mut(plane).chunks_exact_mut(width).enumerate() {
            // SAFETY: each plane has its height in rows of `stride` >= width bytes.
            out.copy_from_slice(unsafe { std::slice::from_raw_parts(planes[index].add(row * stride), width) });
        }
    }
    picture
}

impl Drop for H264Decoder {
    fn drop(&mut self) {
        // SAFETY: the object is open and is not used again.
        unsafe {
            if let Some(uninitialize) = (**self.object).Uninitialize {
                uninitialize(self.object);
            }
            wels::source::APILoader::WelsDestroyDecoder(self.object);
        }
    }
}
