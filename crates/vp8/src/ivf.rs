//! IVF, the simplest file of VP8 frames: a header of 32 bytes, and before each frame its length and time.
//!
//! ```
//! use thalweg_vp8::{Size, ivf};
//!
//! let header = ivf::Header { size: Size::new(320, 240)?, rate: 30, scale: 1 };
//! let mut writer = ivf::Writer::new(Vec::new(), header)?;
//! writer.write(0, b"a frame")?;
//! let file = writer.finish();
//!
//! let reader = ivf::Reader::new(&file)?;
//! assert_eq!(reader.header(), header);
//! for frame in reader {
//!     assert_eq!(frame?, ivf::Frame { time: 0, bytes: b"a frame" });
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::{self, Write};

use crate::image::{Size, SizeError};

/// How many bytes a file's header has.
const HEADER: usize = 32;
/// How many bytes come before each frame.
const FRAME_HEADER: usize = 12;

/// What a file says of its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The pictures' size, at least at the beginning.
    pub size: Size,
    /// Times count in units of `scale / rate` seconds.
    pub rate: u32,
    /// See [`rate`](Self::rate).
    pub scale: u32,
}

/// A frame in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// When it is to be shown, in the header's units.
    pub time: u64,
    /// The frame.
    pub bytes: &'a [u8],
}

/// Bytes that are no IVF file of VP8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IvfError {
    /// They begin otherwise.
    #[error("not an IVF file: it begins with {found:02x?}, not with \"DKIF\", version 0 and a header of 32 bytes")]
    Start {
        /// What is there instead.
        found: [u8; 8],
    },
    /// The frames are of another codec.
    #[error("the frames of this IVF file are of the codec {codec:02x?}, not of \"VP80\"")]
    Codec {
        /// Its four characters.
        codec: [u8; 4],
    },
    /// Its pictures have no pixels.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// The file ends within something.
    #[error("this IVF file ends in its {part} at byte {at}: it is truncated by {missing} bytes")]
    Truncated {
        /// Within what.
        part: &'static str,
        /// Where that begins.
        at: usize,
        /// How many bytes of it are missing.
        missing: usize,
    },
}

/// Reads a file's frames, one after the other.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    header: Header,
    file: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// A reader of the file with the bytes given.
    ///
    /// # Errors
    /// When they are no IVF file of VP8.
    pub fn new(file: &'a [u8]) -> Result<Self, IvfError> {
        let missing = HEADER.saturating_sub(file.len());
        let header: &[u8; HEADER] = file.first_chunk().ok_or(IvfError::Truncated { part: "header", at: 0, missing })?;
        let [found, codec_and_size, rate_and_scale, _] = chunks(header);
        if found != *b"DKIF\x00\x00\x20\x00" {
            return Err(IvfError::Start { found });
        }
        let [codec, size] = chunks::<4, 2>(&codec_and_size);
        if codec != *b"VP80" {
            return Err(IvfError::Codec { codec });
        }
        let [width, height] = chunks::<2, 2>(&size).map(|side| usize::from(u16::from_le_bytes(side)));
        let [rate, scale] = chunks::<4, 2>(&rate_and_scale).map(u32::from_le_bytes);
        let header = Header { size: Size::new(width, height)?, rate, scale };
        Ok(Self { header, file, at: HEADER })
    }

    /// What the file says of its stream.
    #[must_use]
    pub const fn header(&self) -> Header {
        self.header
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Result<Frame<'a>, IvfError>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.at;
        let rest = self.file.get(at..).filter(|rest| !rest.is_empty())?;
        // What comes after a frame that is cut off is no frame.
        self.at = self.file.len();
        let truncated = |part, expected: usize| {
            let missing = expected - rest.len();
            Some(Err(IvfError::Truncated { part, at, missing }))
        };
        let Some((header, rest_of_file)) = rest.split_first_chunk::<FRAME_HEADER>() else {
            return truncated("frame's header", FRAME_HEADER);
        };
        let [length, low, high] = chunks::<4, 3>(header).map(u32::from_le_bytes);
        let length = length as usize;
        let Some(bytes) = rest_of_file.get(..length) else {
            return truncated("frame", FRAME_HEADER + length);
        };
        self.at = at + FRAME_HEADER + length;
        Some(Ok(Frame { time: u64::from(low) | u64::from(high) << 32, bytes }))
    }
}

/// Writes a file.
#[derive(Debug, Clone)]
pub struct Writer<W> {
    out: W,
}

impl<W: Write> Writer<W> {
    /// Writes the header. It says that the number of frames is not known (0), which players do not mind.
    ///
    /// # Errors
    /// Those of writing to `out`.
    pub fn new(mut out: W, header: Header) -> io::Result<Self> {
        let side = |pixels: usize| (pixels as u16).to_le_bytes();
        out.write_all(b"DKIF\x00\x00\x20\x00VP80")?;
        out.write_all(&[side(header.size.width()), side(header.size.height())].concat())?;
        out.write_all(&[header.rate.to_le_bytes(), header.scale.to_le_bytes(), [0; 4], [0; 4]].concat())?;
        Ok(Self { out })
    }

    /// Writes a frame and when it is to be shown, in the header's units.
    ///
    /// # Errors
    /// Those of writing to `out`, and when the frame has 4 GB or more.
    pub fn write(&mut self, time: u64, frame: &[u8]) -> io::Result<()> {
        let length = u32::try_from(frame.len()).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(&time.to_le_bytes())?;
        self.out.write_all(frame)
    }

    /// What was written to.
    pub fn finish(self) -> W {
        self.out
    }
}

/// Bytes in groups of the same length.
fn chunks<const LENGTH: usize, const COUNT: usize>(bytes: &[u8]) -> [[u8; LENGTH]; COUNT] {
    std::array::from_fn(|i| std::array::from_fn(|j| bytes[i * LENGTH + j]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Vec<u8> {
        let header = Header { size: Size::new(640, 480).unwrap(), rate: 30_000, scale: 1001 };
        let mut writer = Writer::new(Vec::new(), header).unwrap();
        writer.write(7, &[1, 2, 3]).unwrap();
        writer.write(u64::MAX, &[]).unwrap();
        writer.finish()
    }

    #[test]
    fn frames_come_back_with_their_times() {
        let file = file();
        let reader = Reader::new(&file).unwrap();
        assert_eq!(reader.header(), Header { size: Size::new(640, 480).unwrap(), rate: 30_000, scale: 1001 });
        let frames: Vec<_> = reader.map(Result::unwrap).collect();
        assert_eq!(frames, [Frame { time: 7, bytes: &[1, 2, 3] }, Frame { time: u64::MAX, bytes: &[] }]);
    }

    #[test]
    fn files_that_end_too_early_say_where() {
        let file = file();
        assert_eq!(Reader::new(&file[..31]).err(), Some(IvfError::Truncated { part: "header", at: 0, missing: 1 }));
        let last = |length: usize| Reader::new(&file[..length]).unwrap().last().unwrap();
        assert_eq!(last(46), Err(IvfError::Truncated { part: "frame", at: 32, missing: 1 }));
        assert_eq!(last(58), Err(IvfError::Truncated { part: "frame's header", at: 47, missing: 1 }));
    }

    #[test]
    fn other_files_are_refused() {
        let mut other = file();
        other[8..12].copy_from_slice(b"VP90");
        assert_eq!(Reader::new(&other).err(), Some(IvfError::Codec { codec: *b"VP90" }));
        other[0] = b'X';
        assert!(matches!(Reader::new(&other), Err(IvfError::Start { .. })));
    }
}
