//! Writes this endpoint's SDP.

mod formats;
mod sections;

pub(super) use formats::{Codec, FLEXFEC, FormatLines, OPUS, RED, RTX, ULPFEC, audio_format, codec_map, video_formats};
pub(super) use sections::{EXTENDED_REPORTS, SectionLines, TransportLines, closed, session};
