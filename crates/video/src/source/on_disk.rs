//! A stream kept in a temporary file as it is read.

use std::env::temp_dir;
use std::fs::{File, OpenOptions, remove_file};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Format, Replay, Source, SourceError};
use crate::picture::Picture;

/// The number of files made so far.
static FILES: AtomicU64 = AtomicU64::new(0);

/// Makes a stream a [`Replay`]: pictures are read when needed and kept in a file of the folder for temporary files, which
/// has no name and ends with this. It takes 1.4 MB a picture of 1280x720.
pub struct OnDisk<S> {
    source: S,
    file: File,
    /// Number of pictures read.
    read: u64,
    ended: bool,
    next: u64,
}

impl<S: Source> OnDisk<S> {
    /// Pictures of `source`.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn new(source: S) -> Result<OnDisk<S>, SourceError> {
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        let path = temp_dir().join(format!("thalweg-pictures-{}-{number}", std::process::id()));
        let made = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path);
        let file = made.and_then(|file| remove_file(&path).map(|()| file)).map_err(|error| failed(&path, error))?;
        Ok(OnDisk { source, file, read: 0, ended: false, next: 0 })
    }
}

fn failed(path: &Path, error: io::Error) -> SourceError {
    SourceError::io(format!("pictures kept in {} (TMPDIR names another folder)", path.display()), error)
}

impl<S: Source> Source for OnDisk<S> {
    fn format(&self) -> Format {
        self.source.format()
    }

    fn next_picture(&mut self) -> Result<Option<Arc<Picture>>, SourceError> {
        let picture = self.picture_at(self.next)?;
        self.next += u64::from(picture.is_some());
        Ok(picture)
    }
}

impl<S: Source> Replay for OnDisk<S> {
    fn picture_at(&mut self, number: u64) -> Result<Option<Arc<Picture>>, SourceError> {
        let size = self.source.format().size;
        let bytes = Picture::bytes(size);
        while self.read <= number && !self.ended {
            match self.source.next_picture()? {
                Some(picture) => {
                    let kept = self.file.write_all_at(picture.data(), self.read * bytes as u64);
                    kept.map_err(|error| failed(&temp_dir(), error))?;
                    self.read += 1;
                    if self.read > number {
                        return Ok(Some(picture));
                    }
                }
                None => self.ended = true,
            }
        }
        if number >= self.read {
            return Ok(None);
        }
        let mut data = vec![0; bytes];
        self.file.read_exact_at(&mut data, number * bytes as u64).map_err(|error| failed(&temp_dir(), error))?;
        let picture =
            Picture::new(size, data).map_err(|error| SourceError::format("kept pictures", error.to_string()))?;
        Ok(Some(Arc::new(picture)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tests::counting;

    #[test]
    fn a_stream_on_disk_gives_any_picture_and_is_read_once() {
        let luma = |picture: Option<Arc<Picture>>| picture.map(|picture| picture.data()[0]);
        let mut clip = OnDisk::new(counting(5, (30, 1))).unwrap();
        for (number, wanted) in [(3, Some(3)), (0, Some(0)), (4, Some(4)), (5, None), (900, None), (2, Some(2))] {
            assert_eq!(luma(clip.picture_at(number).unwrap()), wanted, "{number}");
        }
        let stream: Vec<u8> = std::iter::from_fn(|| luma(clip.next_picture().unwrap())).collect();
        assert_eq!(stream, [0, 1, 2, 3, 4]);
    }
}
