//! Video somebody else has encoded, to send as it is.
//!
//! IVF files of VP8 and VP9, and H.264 as a byte stream (Annex B), are read here, from standard input (`-`) too; of anything else,
//! ffmpeg takes the frames out. B-frames are not reordered: a stream for conversation has none.

mod access_units;
mod ivf;
mod source;

pub use source::{EncodedOptions, EncodedSource, EncodedVideoFrame};
