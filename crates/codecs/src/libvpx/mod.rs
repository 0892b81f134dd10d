//! VP8 and VP9 by libvpx, the encoder and decoder of every browser.

#[cfg(feature = "libvpx")]
mod context;
#[cfg(feature = "libvpx")]
mod decoder;
#[cfg(feature = "libvpx")]
mod encoder;
#[cfg(feature = "libvpx")]
mod format;
mod settings;
#[cfg(feature = "libvpx")]
mod vp8;
#[cfg(feature = "libvpx")]
mod vp9;
#[cfg(feature = "libvpx")]
mod windup;

#[cfg(feature = "libvpx")]
pub use decoder::{Vp8Decoder, Vp9Decoder, VpxDecoder};
#[cfg(feature = "libvpx")]
pub use encoder::{Vp8Encoder, Vp9Encoder, VpxEncoder};
pub use settings::{RateBuffer, Settings, Vp9Settings};

#[cfg(feature = "libvpx")]
use vpx_sys as vpx;

/// libvpx's description of its last failure.
#[cfg(feature = "libvpx")]
#[allow(unsafe_code)]
fn words(context: &mut vpx::vpx_codec_ctx_t) -> String {
    // SAFETY: the context is initialised or zeroed, which libvpx allows here; the strings it returns are static or live
    // as long as the context, and are copied at once.
    unsafe {
        let text = |pointer: *const std::os::raw::c_char| {
            if pointer.is_null() {
                String::new()
            } else {
                std::ffi::CStr::from_ptr(pointer).to_string_lossy().into_owned()
            }
        };
        let (error, detail) = (text(vpx::vpx_codec_error(context)), text(vpx::vpx_codec_error_detail(context)));
        if detail.is_empty() { error } else { format!("{error} ({detail})") }
    }
}
