//! A file that ffmpeg decodes, with access by number and without keeping its pictures.

use std::sync::Arc;

use thalweg_units::{Size, Span};

use super::{Decoding, Ffmpeg, Format, Replay, Source, SourceError};
use crate::ffmpeg::Process;
use crate::picture::Picture;

/// Number of places that a file is decoded at: where pictures are encoded, and where those are compared that are shown
/// and that stand on the screen, which lie behind by the latency and for as long as one is frozen.
const READERS: usize = 3;
/// How long before the end of a file ffmpeg is started for its next round, which then begins without a gap.
const AHEAD: Span = Span::from_secs(2);

/// A file decoded by ffmpeg. A picture that has gone by is decoded again: by the reader that is the least before it, or by a
/// new one, from the beginning of the file.
pub struct Decoded {
    decoding: Decoding,
    format: Format,
    /// The least recently used first.
    readers: Vec<Reader>,
    /// An ffmpeg for the next reader.
    ahead: Option<Process>,
    /// The number of pictures, once it is known.
    count: Option<u64>,
    next: u64,
}

struct Reader {
    pictures: Ffmpeg,
    /// The number of the next picture.
    next: u64,
}

impl Decoded {
    /// Opens a file or address, whose pictures ffmpeg scales to `size` if it is given.
    ///
    /// # Errors
    /// When ffmpeg is not installed or cannot read the input, with its message.
    pub fn open(name: &str, size: Option<Size>) -> Result<Decoded, SourceError> {
        let decoding = Decoding::of(name, size)?;
        let pictures = decoding.open()?;
        let format = pictures.format();
        Ok(Decoded { decoding, format, readers: vec![Reader { pictures, next: 0 }], ahead: None, count: None, next: 0 })
    }

    /// The reader to go on with for this picture.
    fn reader(&mut self, number: u64) -> Result<Reader, SourceError> {
        let before = self.readers.iter().enumerate().filter(|(_, reader)| reader.next <= number);
        if let Some((place, _)) = before.max_by_key(|(_, reader)| reader.next) {
            return Ok(self.readers.remove(place));
        }
        if self.readers.len() == READERS {
            self.readers.remove(0);
        }
        let started = self.ahead.take().map_or_else(|| self.decoding.start(), Ok)?;
        Ok(Reader { pictures: self.decoding.read(started)?, next: 0 })
    }

    /// Starts ffmpeg for the next round where the end is near, or not known.
    fn look_ahead(&mut self, number: u64) -> Result<(), SourceError> {
        let end = self.count.map(|count| self.format.time_of(count)).or(self.decoding.duration());
        if self.ahead.is_none() && self.format.time_of(number) + AHEAD >= end.unwrap_or_default() {
            self.ahead = Some(self.decoding.start()?);
        }
        Ok(())
    }
}

impl Source for Decoded {
    fn format(&self) -> Format {
        self.format
    }

    fn next_picture(&mut self) -> Result<Option<Arc<Picture>>, SourceError> {
        let picture = self.picture_at(self.next)?;
        self.next += u64::from(picture.is_some());
        Ok(picture)
    }
}

impl Replay for Decoded {
    fn picture_at(&mut self, number: u64) -> Result<Option<Arc<Picture>>, SourceError> {
        if self.count.is_some_and(|count| number >= count) {
            return Ok(None);
        }
        let mut reader = self.reader(number)?;
        loop {
            let Some(picture) = reader.pictures.next_picture()? else {
                self.count = Some(reader.next);
                return Ok(None);
            };
            reader.next += 1;
            if reader.next > number {
                self.readers.push(reader);
                self.look_ahead(number)?;
                return Ok(Some(picture));
            }
        }
    }
}
