//! A stream kept in memory as it is read.

use std::sync::Arc;

use super::{Format, Replay, Source, SourceError};
use crate::picture::Picture;

/// Maximum memory for a stream, in MB.
const LIMIT_MB: usize = 3_000;

/// Makes a stream a [`Replay`]: pictures are read when needed and kept. A stream too long to keep still plays, but
/// without access to earlier pictures.
pub struct InMemory<S> {
    source: S,
    what: String,
    limit_mb: usize,
    pictures: Vec<Arc<Picture>>,
    /// Number of pictures read; more than are kept if the limit was exceeded.
    read: u64,
    kept_all: bool,
    ended: bool,
    next: u64,
}

impl<S: Source> InMemory<S> {
    /// Pictures of `source`, up to 3 GB of them; `what` names it in errors.
    pub fn new(source: S, what: impl Into<String>) -> InMemory<S> {
        InMemory::with_limit(source, what, LIMIT_MB)
    }

    /// The same with another limit, in MB.
    pub fn with_limit(source: S, what: impl Into<String>, limit_mb: usize) -> InMemory<S> {
        let what = what.into();
        InMemory { source, what, limit_mb, pictures: Vec::new(), read: 0, kept_all: true, ended: false, next: 0 }
    }

    /// Reads one more picture.
    fn read(&mut self) -> Result<Option<Arc<Picture>>, SourceError> {
        let Some(picture) = self.source.next_picture()? else {
            self.ended = true;
            return Ok(None);
        };
        self.read += 1;
        if (self.pictures.len() + 1) * picture.data().len() > self.limit_mb * 1_000_000 {
            self.kept_all = false;
            self.pictures = Vec::new();
        }
        if self.kept_all {
            self.pictures.push(picture.clone());
        }
        Ok(Some(picture))
    }

    fn gone(&self, number: u64) -> SourceError {
        let (what, size, limit_mb) = (self.what.clone(), self.source.format().size, self.limit_mb);
        if self.ended {
            SourceError::TooLong { what, pictures: self.read as usize, size, limit_mb }
        } else {
            SourceError::Gone { what, number, size, limit_mb }
        }
    }
}

impl<S: Source> Source for InMemory<S> {
    fn format(&self) -> Format {
        self.source.format()
    }

    fn next_picture(&mut self) -> Result<Option<Arc<Picture>>, SourceError> {
        let picture = self.picture_at(self.next)?;
        self.next += u64::from(picture.is_some());
        Ok(picture)
    }
}

impl<S: Source> Replay for InMemory<S> {
    fn picture_at(&mut self, number: u64) -> Result<Option<Arc<Picture>>, SourceError> {
        while self.read <= number && !self.ended {
            let picture = self.read()?;
            if self.read == number + 1 {
                return Ok(picture);
            }
        }
        if number >= self.read {
            return Ok(None);
        }
        if !self.kept_all {
            return Err(self.gone(number));
        }
        Ok(self.pictures.get(number as usize).cloned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tests::counting;

    fn luma(picture: Option<Arc<Picture>>) -> Option<u8> {
        picture.map(|picture| picture.data()[0])
    }

    #[test]
    fn a_stream_in_memory_gives_any_picture_and_is_read_once() {
        let mut clip = InMemory::new(counting(5, (30, 1)), "test");
        for (number, wanted) in [(3, Some(3)), (0, Some(0)), (4, Some(4)), (5, None), (900, None), (2, Some(2))] {
            assert_eq!(luma(clip.picture_at(number).unwrap()), wanted, "{number}");
        }
        let stream: Vec<u8> = std::iter::from_fn(|| luma(clip.next_picture().unwrap())).collect();
        assert_eq!(stream, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_stream_too_long_to_keep_plays_once_and_says_so() {
        // 16x16 pictures of 384 bytes: none fits into 0 MB.
        let mut clip = InMemory::with_limit(counting(3, (30, 1)), "a pipe", 0);
        assert_eq!(luma(clip.next_picture().unwrap()), Some(0));
        assert_eq!(luma(clip.next_picture().unwrap()), Some(1));
        let message = clip.picture_at(0).unwrap_err().to_string();
        assert!(message.contains("picture 0 of a pipe") && message.contains("0 MB"), "{message}");
        assert_eq!(luma(clip.next_picture().unwrap()), Some(2));
        assert_eq!(luma(clip.next_picture().unwrap()), None);
        let message = clip.picture_at(1).unwrap_err().to_string();
        assert!(message.contains("ends after 3 pictures"), "{message}");
    }
}
