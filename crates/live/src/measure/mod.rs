//! Measurement of received video, for [`watch`](crate::watch) and [`receive`](crate::receive) alike.
//!
//! ```text
//! decoder     decodes frames in a thread of its own, and writes files
//! record      those files: frames as received, and decoded pictures
//! measured    everything that is counted, in one place
//! recent      rates over the last second
//! report      what is reported of it
//! feedback    how arrivals are reported to the sender
//! forward     where media goes besides
//! ```

mod decoder;
mod error;
mod feedback;
mod forward;
mod measured;
mod recent;
mod record;
mod report;

use thalweg_receiver::rtp::VideoFrame;
use thalweg_units::{Size, Time};

pub use decoder::standard_decoder;
pub(crate) use decoder::{DecoderThread, Failure, Work, decodable, needed};
pub use error::MeasureError;
pub use feedback::Feedback;
pub use forward::Forward;
pub(crate) use measured::Measured;
pub use measured::SeenFrame;
pub(crate) use recent::LastSecond;
pub use report::{EcnCounts, Report};
use thalweg_emulate::clock::Clock;

/// Seconds from the start of NTP's count (1900) to that of Unix (1970), in milliseconds: RFC 868.
const NTP_TO_UNIX_MS: f64 = 2_208_988_800_000.0;

/// Handling of received frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Handling {
    /// Decodes them; otherwise a frame counts as shown when it is complete.
    pub(crate) decode: bool,
    /// File for frames as received: IVF, or H.264 as a byte stream (Annex B).
    pub(crate) record: Option<std::path::PathBuf>,
    /// File for decoded pictures as YUV4MPEG2; `-` is standard output.
    pub(crate) y4m: Option<std::path::PathBuf>,
}

/// Properties of the video known in advance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Source {
    /// Size of its pictures, 0x0 if not known.
    pub(crate) size: Size,
    /// The interval between them in milliseconds; 0 if not known.
    pub(crate) frame_interval_ms: f64,
    pub(crate) numbers: Numbers,
}

impl Source {
    /// Anybody's.
    pub(crate) const UNKNOWN: Source =
        Source { size: Size { width: 0, height: 0 }, frame_interval_ms: 0.0, numbers: Numbers::Perhaps };
}

/// Numbers in pictures ([`thalweg_video::barcode`]), and the time at which the picture with a number was taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Numbers {
    /// They carry none.
    None,
    /// They do, and the first was taken at this time in milliseconds since 1970, the others at equal intervals.
    Since { epoch_ms: f64 },
    /// They may, and their times are known by sender reports alone.
    Perhaps,
}

/// A time in milliseconds since 1970 by our clock.
pub(crate) fn wall_ms(clock: &Clock, time: Time) -> f64 {
    let since = clock.wall(time).duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    since.as_nanos() as f64 / 1e6
}

/// When a frame's picture was taken in milliseconds since 1970, by the sender's clock, if sender reports say it.
pub(crate) fn captured_ms(frame: &VideoFrame) -> Option<f64> {
    frame.captured.map(|captured| captured.as_nanos() as f64 / 1e6 - NTP_TO_UNIX_MS)
}
