//! Where pictures come from.

mod adapt;
mod ffmpeg;
mod forth_and_back;
mod scene;
mod y4m;

use std::sync::Arc;

use thalweg_units::{Size, Span};

use crate::picture::Picture;
pub use adapt::{Resized, Retimed};
pub use ffmpeg::Ffmpeg;
pub use forth_and_back::ForthAndBack;
pub use scene::{Scene, SceneConfig};
pub use y4m::{Y4mReader, Y4mWriter};

/// The shape of a stream of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// The size of each picture.
    pub size: Size,
    /// Pictures in `frame_rate.1` seconds: 30000/1001 is NTSC's rate.
    pub frame_rate: (u32, u32),
}

impl Format {
    /// The time between two pictures, to the nearest nanosecond.
    pub fn interval(&self) -> Span {
        let (pictures, seconds) = self.frame_rate;
        Span::from_nanos((u64::from(seconds) * 1_000_000_000 / u64::from(pictures.max(1))) as i64)
    }
}

/// A stream of pictures of one format.
pub trait Source: Send {
    /// Size and rate.
    fn format(&self) -> Format;

    /// The next picture; `None` at the end.
    ///
    /// # Errors
    /// When what should be a picture is not, or cannot be read.
    fn next_picture(&mut self) -> Result<Option<Arc<Picture>>, SourceError>;
}

/// A stream of pictures could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The file or pipe failed.
    #[error("{what}: {error}")]
    Io {
        /// What was read.
        what: String,
        /// What went wrong.
        error: std::io::Error,
    },
    /// The stream is not what it should be.
    #[error("{what}: {problem}")]
    Format {
        /// What was read.
        what: String,
        /// What is wrong, what is allowed, and what to do.
        problem: String,
    },
    /// It ended, and was too long to be kept in memory for the way back.
    #[error(
        "{what} ends after {pictures} pictures of {size}, too many to keep ({limit_mb} MB) and play backwards; make the run \
             shorter, or the file smaller"
    )]
    TooLong {
        /// What was read.
        what: String,
        /// How many pictures had been read.
        pictures: usize,
        /// Their size.
        size: Size,
        /// The limit, in MB.
        limit_mb: usize,
    },
}
