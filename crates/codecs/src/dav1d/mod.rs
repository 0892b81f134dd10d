//! AV1 by dav1d, the decoder of every browser, where it is installed: the shared library is looked for at run time, so
//! that nothing of it is needed to build.
//!
//! Frames of 8 bits and 4:2:0 (profile 0) are decoded, up to 35,651,584 pixels. There is no encoder.

#[cfg(feature = "dav1d")]
mod decoder;
#[cfg(feature = "dav1d")]
mod library;

#[cfg(feature = "dav1d")]
pub use decoder::Av1Decoder;

/// The library looked for, as messages name it where it is missing.
pub const NEEDED: &str = "dav1d 1.0 or newer (libdav1d.so.6 or libdav1d.so.7; Debian: libdav1d6 or libdav1d7)";

/// Returns true if AV1 can be decoded: dav1d was found, in a supported version. Never in a build without the feature
/// `dav1d`.
pub fn is_installed() -> bool {
    #[cfg(feature = "dav1d")]
    return library::library().is_ok();
    #[cfg(not(feature = "dav1d"))]
    false
}

#[cfg(feature = "dav1d")]
const CODEC: &str = "dav1d AV1";
