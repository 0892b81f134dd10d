//! Sources of pictures.
//!
//! A [`Source`] is a stream: each picture once, in order. A [`Replay`] also gives access to any of its pictures by
//! number, so that a comparison minutes later needs no stored pictures. The sources:
//!
//! | source | replays | by |
//! |---|---|---|
//! | [`Scene`] | yes | drawing it again, a function of the number |
//! | [`Y4mReader`] on a file | yes | reading it again (`R: Seek`) |
//! | [`Y4mReader`] on a pipe or standard input, [`Ffmpeg`] | no | |
//! | [`Decoded`] | yes | decoding it again |
//! | [`OnDisk`] of any source | yes | keeping it in a temporary file |
//! | [`Endless`], [`Retimed`], [`Resized`], [`Recent`] | if what they are of does | its number there |

mod adapt;
mod decoded;
mod endless;
mod ffmpeg;
mod on_disk;
mod replay;
mod scene;
mod y4m;

use std::sync::Arc;

use thalweg_units::{Size, Span};

use crate::picture::Picture;
pub use adapt::{Resized, Retimed};
pub use decoded::Decoded;
pub use endless::Endless;
pub use ffmpeg::{Decoding, Ffmpeg};
pub use on_disk::OnDisk;
pub use replay::{Recent, Replay};
pub use scene::{Scene, SceneConfig};
pub use y4m::{Y4mReader, Y4mWriter};

/// The shape of a stream of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// The size of each picture.
    pub size: Size,
    /// Pictures per `frame_rate.1` seconds: 30000/1001 is the rate of NTSC.
    pub frame_rate: (u32, u32),
}

impl Format {
    /// The interval between two pictures, to the nearest nanosecond.
    pub fn interval(&self) -> Span {
        let (pictures, seconds) = self.frame_rate;
        Span::from_nanos((u64::from(seconds) * 1_000_000_000 / u64::from(pictures.max(1))) as i64)
    }

    /// The time of picture `number` after picture 0 ([`time_of_picture`]).
    pub fn time_of(&self, number: u64) -> Span {
        time_of_picture(self.frame_rate, number)
    }
}

/// The time of picture `number` after picture 0, at `frame_rate.0` pictures per `frame_rate.1` seconds: exact for every
/// frame rate, without drift.
pub fn time_of_picture((pictures, seconds): (u32, u32), number: u64) -> Span {
    let nanos = u128::from(number) * u128::from(seconds) * 1_000_000_000 / u128::from(pictures.max(1));
    Span::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX))
}

/// A stream of pictures of one format.
pub trait Source: Send {
    /// Size and rate.
    fn format(&self) -> Format;

    /// The next picture; `None` at the end.
    ///
    /// # Errors
    /// When a picture is malformed, or cannot be read.
    fn next_picture(&mut self) -> Result<Option<Arc<Picture>>, SourceError>;
}

impl<T: Source + ?Sized> Source for Box<T> {
    fn format(&self) -> Format {
        (**self).format()
    }

    fn next_picture(&mut self) -> Result<Option<Arc<Picture>>, SourceError> {
        (**self).next_picture()
    }
}

/// Why a source of pictures or of audio could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The file or pipe failed.
    #[error("{what}: {error}")]
    Io {
        /// The source.
        what: String,
        /// The system's error.
        error: std::io::Error,
    },
    /// The stream is malformed or unsupported.
    #[error("{what}: {problem}")]
    Format {
        /// The source.
        what: String,
        /// The problem, what is allowed, and what to do.
        problem: String,
    },
}

impl SourceError {
    /// Reading `what` failed.
    pub fn io(what: impl Into<String>, error: std::io::Error) -> SourceError {
        SourceError::Io { what: what.into(), error }
    }

    /// An error of `what`: the problem, what is allowed, and what to do.
    pub fn format(what: impl Into<String>, problem: impl Into<String>) -> SourceError {
        SourceError::Format { what: what.into(), problem: problem.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pictures whose luma is their number.
    pub(super) struct Counting(u8, u8, Format);

    impl Source for Counting {
        fn format(&self) -> Format {
            self.2
        }

        fn next_picture(&mut self) -> Result<Option<Arc<Picture>>, SourceError> {
            let number = self.0;
            self.0 += 1;
            Ok((number < self.1).then(|| Arc::new(Picture::filled(self.2.size, number, 128, 128))))
        }
    }

    pub(super) fn counting(count: u8, frame_rate: (u32, u32)) -> Box<Counting> {
        Box::new(Counting(0, count, Format { size: Size::new(16, 16), frame_rate }))
    }
}
