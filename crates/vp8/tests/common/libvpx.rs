//! Bindings to libvpx's VP8 decoder, for comparison.
#![allow(unsafe_code)] // C.
#![allow(dead_code)]

use vpx_sys as vpx;

/// A decoder of libvpx.
pub struct Decoder {
    context: Box<vpx::vpx_codec_ctx_t>,
}

/// A picture of libvpx, valid until the next frame is decoded.
pub struct Picture<'a>(&'a vpx::vpx_image_t);

impl Picture<'_> {
    /// The shown pixels.
    pub fn to_i420(&self) -> Vec<u8> {
        let image = self.0;
        let (width, height) = (image.d_w as usize, image.d_h as usize);
        let mut bytes = Vec::new();
        for (plane, width, height) in
            [(0, width, height), (1, width.div_ceil(2), height.div_ceil(2)), (2, width.div_ceil(2), height.div_ceil(2))]
        {
            for row in 0..height {
                // SAFETY: each plane has `height` rows of at least `width` pixels, `stride` apart.
                bytes.extend_from_slice(unsafe {
                    let start = image.planes[plane].offset(row as isize * image.stride[plane] as isize);
                    std::slice::from_raw_parts(start, width)
                });
            }
        }
        bytes
    }
}

impl Decoder {
    /// A decoder on one thread.
    pub fn new() -> Self {
        let mut context = Box::<vpx::vpx_codec_ctx_t>::default();
        let config = vpx::vpx_codec_dec_cfg { threads: 1, w: 0, h: 0 };
        // SAFETY: context and configuration outlive the call, and libvpx copies what it keeps.
        let status = unsafe {
            let version = vpx::VPX_DECODER_ABI_VERSION as i32;
            vpx::vpx_codec_dec_init_ver(&mut *context, vpx::vpx_codec_vp8_dx(), &config, 0, version)
        };
        assert_eq!(status, vpx::VPX_CODEC_OK);
        Self { context }
    }

    /// Decodes a frame; returns the picture if it is to be shown. The error is libvpx's error code.
    pub fn decode(&mut self, frame: &[u8]) -> Result<Option<Picture<'_>>, u32> {
        // SAFETY: the frame is readable during the call.
        let status = unsafe {
            vpx::vpx_codec_decode(&mut *self.context, frame.as_ptr(), frame.len() as u32, std::ptr::null_mut(), 0)
        };
        if status != vpx::VPX_CODEC_OK {
            return Err(status as u32);
        }
        let mut iterator: vpx::vpx_codec_iter_t = std::ptr::null();
        // SAFETY: the image is valid until the next call on the context, which the lifetime forbids.
        Ok(unsafe { vpx::vpx_codec_get_frame(&mut *self.context, &mut iterator).as_ref() }.map(Picture))
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        // SAFETY: the context was initialised and is not used again.
        unsafe { vpx::vpx_codec_destroy(&mut *self.context) };
    }
}
