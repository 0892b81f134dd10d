//! Already encoded video, sent without re-encoding.
//!
//! IVF files of VP8 and VP9, and H.264 as a byte stream (Annex B), are read here, also from standard input (`-`); for
//! any other format ffmpeg extracts the frames. B-frames are not reordered: streams for conversation have none.

mod access_units;
mod ivf;
mod source;

// For `thalweg-fuzz`.
#[doc(hidden)]
pub use access_units::AccessUnits;
#[doc(hidden)]
pub use ivf::Ivf;
pub use source::{EncodedOptions, EncodedSource, EncodedVideoFrame};
