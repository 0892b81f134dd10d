//! The libvpx decoders.
#![allow(unsafe_code)]

use thalweg_units::Size;
use thalweg_video::{Picture, Plane};
use vpx_sys as vpx;

use super::words;
use crate::seam::{DecodeError, Decoder};

/// A libvpx decoder for VP8 or VP9.
pub struct VpxDecoder<const VP9: bool> {
    context: Box<vpx::vpx_codec_ctx_t>,
}

/// A VP8 decoder.
pub type Vp8Decoder = VpxDecoder<false>;

/// A VP9 decoder.
pub type Vp9Decoder = VpxDecoder<true>;

// SAFETY: the context is owned, has no thread affinity, and is only used through `&mut self`.
unsafe impl<const VP9: bool> Send for VpxDecoder<VP9> {}

impl<const VP9: bool> VpxDecoder<VP9> {
    const CODEC: &str = if VP9 { "libvpx VP9" } else { "libvpx VP8" };

    /// Creates a decoder that waits for a keyframe.
    ///
    /// # Errors
    /// When libvpx cannot be set up (out of memory, or a library of another version).
    pub fn new() -> Result<VpxDecoder<VP9>, DecodeError> {
        let mut context = Box::<vpx::vpx_codec_ctx_t>::default();
        let config = vpx::vpx_codec_dec_cfg { threads: 1, w: 0, h: 0 };
        // SAFETY: context and configuration outlive the call, and libvpx copies what it keeps of the configuration.
        let status = unsafe {
            let version = vpx::VPX_DECODER_ABI_VERSION as i32;
            let interface = if VP9 { vpx::vpx_codec_vp9_dx() } else { vpx::vpx_codec_vp8_dx() };
            vpx::vpx_codec_dec_init_ver(&mut *context, interface, &config, 0, version)
        };
        if status != vpx::VPX_CODEC_OK {
            return Err(DecodeError { codec: Self::CODEC, length: 0, reason: words(&mut context) });
        }
        Ok(VpxDecoder { context })
    }
}

impl<const VP9: bool> Decoder for VpxDecoder<VP9> {
    fn decode(&mut self, data: &[u8]) -> Result<Option<Picture>, DecodeError> {
        let error = |reason: String| DecodeError { codec: Self::CODEC, length: data.len(), reason };
        let length = u32::try_from(data.len()).map_err(|_| error("longer than 4 GB".into()))?;
        if data.is_empty() {
            return Err(error("empty".into()));
        }
        if VP9
            && let Some((width, height)) = keyframe_size(data, length)
            && width.max(height) > LONGEST
        {
            return Err(error(format!("a keyframe of {width}x{height}, at most {LONGEST} either way")));
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
            image.as_ref().map(|image| copy(image).map_err(error)).transpose()
        }
    }
}

/// The longest side of a VP9 picture for which memory is allocated: VP8 allows no longer side, and a VP9 picture of the
/// maximum 65536 takes 6 GB.
const LONGEST: u32 = 16_383;

/// The size in the header of a VP9 keyframe.
fn keyframe_size(data: &[u8], length: u32) -> Option<(u32, u32)> {
    let size = std::mem::size_of::<vpx::vpx_codec_stream_info_t>() as u32;
    let mut info = vpx::vpx_codec_stream_info_t { sz: size, w: 0, h: 0, is_kf: 0 };
    // SAFETY: `data` is readable for `length` bytes, and libvpx fills the structure, whose size it is given.
    let status = unsafe { vpx::vpx_codec_peek_stream_info(vpx::vpx_codec_vp9_dx(), data.as_ptr(), length, &mut info) };
    (status == vpx::VPX_CODEC_OK).then_some((info.w, info.h))
}

/// # Safety
/// `image` is an image that libvpx has just returned.
unsafe fn copy(image: &vpx::vpx_image_t) -> Result<Picture, String> {
    let (width, height) = (u16::try_from(image.d_w), u16::try_from(image.d_h));
    let (Ok(width), Ok(height)) = (width, height) else {
        return Err(format!("pictures of {}x{}, at most 65535 either way", image.d_w, image.d_h));
    };
    // VP9 has other image formats from profile 1 on.
    if image.fmt != vpx::vpx_img_fmt::VPX_IMG_FMT_I420 {
        return Err(format!("samples of the format {:?}, must be 4:2:0 of 8 bits", image.fmt));
    }
    let size = Size::new(width, height);
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
    Ok(picture)
}

impl<const VP9: bool> Drop for VpxDecoder<VP9> {
    fn drop(&mut self) {
        // SAFETY: the context was initialised and is not used again.
        unsafe { vpx::vpx_codec_destroy(&mut *self.context) };
    }
}
