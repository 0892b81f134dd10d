//! Already encoded video, sent without re-encoding.
//!
//! IVF files of VP8 and VP9, and H.264 as a byte stream (Annex B), are read here, also from standard input (`-`); from
//! any other format ffmpeg extracts the frames with their times. B-frames are refused: streams for conversation have none.

mod access_units;
mod ivf;
mod mpeg_ts;
mod source;
mod stream;

// For `thalweg-fuzz`.
#[doc(hidden)]
pub use access_units::AccessUnits;
#[doc(hidden)]
pub use ivf::Ivf;
pub use source::{EncodedOptions, EncodedSource, EncodedVideoFrame};
