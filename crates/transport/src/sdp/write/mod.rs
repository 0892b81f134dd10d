//! This end's SDP.

mod formats;
mod sections;

pub(super) use formats::{Codec, FormatLines, OPUS, audio_format, codec_map, video_formats};
pub(super) use sections::{SectionLines, TransportLines, closed, session};
