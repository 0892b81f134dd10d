//! VP8 decoding.
#![allow(unsafe_code)]

use thalweg_units::Size;
use thalweg_video::{Picture, Plane};
use vpx_sys as vpx;

use super::words;
use crate::seam::{DecodeError, Decoder};

/// A VP8 decoder.
pub struct Vp8Decoder {
    context: Box<vpx::vpx_codec_ctx_t>,
}

// SAFETY: the context is owned, has no thread affinity, and is only used through `&mut self`.
unsafe impl Send for Vp8Decoder {}

impl Vp8Decoder {
    /// A decoder that waits for a keyframe.
    ///
    /// # Errors
    /// When libvpx cannot be set up (out of memory, or a library of another version).
    pub fn new() -> Result<Vp8Decoder, DecodeError> {
        let mut context = Box::<vpx::vpx_codec_ctx_t>::default();
        let config = vpx::vpx_codec_dec_cfg { threads: 1, w: 0, h: 0 };
        // SAFETY: context and configuration outlive the call, and libvpx copies what it keeps of the configuration.
        let status = unsafe {
            let version = vpx::VPX_DECODER_ABI_VERSION as i32;
            vpx::vpx_codec_dec_init_ver(&mut *context, vpx::vpx_codec_vp8_dx(), &config, 0, version)
        };
        if status != vpx::VPX_CODEC_OK {
            return Err(DecodeError { codec: "libvpx VP8", length: 0, reason: words(&mut context) });
        }
        Ok(Vp8Decoder { context })
    }
}

impl Decoder for Vp8Decoder {
    fn decode(&mut self, data: &[u8]) -> Result<Option<Picture>, DecodeError> {
        let error = |reason: String| DecodeError { codec: "libvpx VP8", length: data.len(), reason };
        let length = u32::try_from(data.len()).map_err(|_| error("longer than 4 GB".into()))?;
        if data.is_empty() {
            return Err(error("empty".into()));
        }
        // SAFETY: `data` is readable for `length` bytes during the call; no user data or deadline is passed.
        let status =
            unsafe { vpx::vpx_codec_decode(&mut *self.context, data.as_ptr(), length, std::ptr::null_mut(), 0) };
        if status != vpx::VPX_CODEC_OK {
            return Err(error(words(&mut self.context)));
        }
        let mut iterator: vpx::vpx_codec_iter_t = std::ptr::null();
        // SAFETY: the image, if any, is valid until the next call on the context, and is copied before that.
        unsafe {
            let image = vpx::vpx_codec_get_frame(&mut *self.context, &mut iterator);
            Ok(image.as_ref().map(|image| copy(image)))
        }
    }
}

/// # Safety
/// `image` is an I420 image that libvpx has just returned.
unsafe fn copy(image: &vpx::vpx_image_t) -> Picture {
    let size = Size::new(image.d_w as u16, image.d_h as u16);
    let mut picture = Picture::filled(size, 0, 0, 0);
    for (index, plane) in Plane::ALL.into_iter().enumerate() {
        let (width, height) = Picture::plane_size(size, plane);
        let target = picture.plane_mut(plane);
        for (row, out) in target.chunks_exact_mut(width).enumerate().take(height) {
            // SAFETY: each plane has at least `height` rows of `stride` >= width bytes.
            let source = unsafe {
                let start = image.planes[index].offset(row as isize * image.stride[index] as isize);
                std::slice::from_raw_parts(start, width)
            };
            out.copy_from_slice(source);
        }
    }
    picture
}

impl Drop for Vp8Decoder {
    fn drop(&mut self) {
        // SAFETY: the context was initialised and is not used again.
        unsafe { vpx::vpx_codec_destroy(&mut *self.context) };
    }
}
