//! IVF, the simplest file format for video frames: a header of 32 bytes, then each frame with its length and time
//! before it. Any codec, from a file or a pipe.
//!
//! ```
//! use thalweg_vp8::{Size, ivf};
//!
//! let header = ivf::Header::vp8(Size::new(320, 240)?, (30, 1));
//! let mut writer = ivf::Writer::new(Vec::new(), header)?;
//! writer.write(0, b"a frame")?;
//! let file = writer.finish();
//!
//! let reader = ivf::Reader::new(&file[..], &[ivf::VP8])?;
//! assert_eq!(reader.header(), header);
//! for frame in reader {
//!     assert_eq!(frame?, ivf::Frame { time: 0, bytes: b"a frame".to_vec() });
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::{self, Read, Write};

use crate::image::Size;

/// The four-character code of a codec.
pub type Codec = [u8; 4];
/// VP8.
pub const VP8: Codec = *b"VP80";
/// VP9.
pub const VP9: Codec = *b"VP90";
/// H.264.
pub const H264: Codec = *b"H264";
/// AV1.
pub const AV1: Codec = *b"AV01";

/// The start of every file: its name, version 0, and a header of 32 bytes.
const START: &[u8; 8] = b"DKIF\x00\x00\x20\x00";
/// Length of a file's header in bytes.
const HEADER: usize = 32;
/// Length of a frame's header in bytes.
const FRAME_HEADER: usize = 12;
/// Maximum length of a frame: a larger length field is corrupt.
const MAX_FRAME: u32 = 1 << 26;

/// The header of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The codec of its frames.
    pub codec: Codec,
    /// Width of the pictures in pixels, at least at the beginning; 0 if the writer did not know it.
    pub width: u16,
    /// Height of the pictures in pixels.
    pub height: u16,
    /// Times count in units of `scale / rate` seconds.
    pub rate: u32,
    /// See [`rate`](Self::rate).
    pub scale: u32,
}

impl Header {
    /// A header for VP8, with times in units of `scale / rate` seconds.
    #[must_use]
    pub const fn vp8(size: Size, (rate, scale): (u32, u32)) -> Self {
        Self { codec: VP8, width: size.width() as u16, height: size.height() as u16, rate, scale }
    }
}

/// A frame in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Presentation time, in the header's units.
    pub time: u64,
    /// The frame's bytes.
    pub bytes: Vec<u8>,
}

/// Why an IVF file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum IvfError {
    /// The start is wrong.
    #[error(
        "not an IVF file: it begins with {found:02x?}, not with \"DKIF\", version 0 and a header of 32 bytes; ffmpeg -i FILE -c:v \
         copy OUT.ivf takes VP8 out of other containers"
    )]
    Start {
        /// The bytes found.
        found: [u8; 8],
    },
    /// The frames are of another codec.
    #[error("the frames of this IVF file are of the codec {}, allowed are {}", text(codec), allowed.iter().map(text).collect::<Vec<_>>().join(", "))]
    Codec {
        /// Its four-character code.
        codec: Codec,
        /// The allowed codecs.
        allowed: Vec<Codec>,
    },
    /// The file is truncated.
    #[error("this IVF file ends in its {part} at byte {at}: it is truncated by {missing} bytes")]
    Truncated {
        /// The part that is incomplete.
        part: &'static str,
        /// Position of that part in bytes.
        at: u64,
        /// Number of missing bytes.
        missing: usize,
    },
    /// A frame's length is too large.
    #[error("this IVF file has a frame of {length} bytes at byte {at}, allowed are up to {MAX_FRAME}: it is corrupt")]
    TooLong {
        /// The length.
        length: u32,
        /// Position of the frame in bytes.
        at: u64,
    },
    /// A read error.
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn text(codec: &Codec) -> String {
    codec.escape_ascii().to_string()
}

/// Reads the frames of a file in order.
#[derive(Debug)]
pub struct Reader<R> {
    header: Header,
    input: R,
    at: u64,
    /// Set after an error: no more frames follow.
    is_over: bool,
}

impl<R: Read> Reader<R> {
    /// Reads the header of a file whose frames must be of one of these codecs.
    ///
    /// # Errors
    /// When it cannot be read, or is not the header of an IVF file of these codecs.
    pub fn new(mut input: R, codecs: &[Codec]) -> Result<Self, IvfError> {
        let header = read(&mut input, HEADER)?;
        let Some(header) = header.first_chunk::<HEADER>() else {
            return Err(IvfError::Truncated { part: "header", at: 0, missing: HEADER - header.len() });
        };
        let [found, codec_and_size, rate_and_scale, _] = chunks(header);
        if found != *START {
            return Err(IvfError::Start { found });
        }
        let [codec, size] = chunks::<4, 2>(&codec_and_size);
        if !codecs.contains(&codec) {
            return Err(IvfError::Codec { codec, allowed: codecs.to_vec() });
        }
        let [width, height] = chunks::<2, 2>(&size).map(u16::from_le_bytes);
        let [rate, scale] = chunks::<4, 2>(&rate_and_scale).map(u32::from_le_bytes);
        Ok(Self { header: Header { codec, width, height, rate, scale }, input, at: HEADER as u64, is_over: false })
    }

    /// The file's header.
    #[must_use]
    pub const fn header(&self) -> Header {
        self.header
    }

    /// The next frame; `None` at the end.
    fn frame(&mut self) -> Result<Option<Frame>, IvfError> {
        let at = self.at;
        let truncated = |part, missing| Err(IvfError::Truncated { part, at, missing });
        let header = read(&mut self.input, FRAME_HEADER)?;
        if header.is_empty() {
            return Ok(None);
        }
        let Some(header) = header.first_chunk::<FRAME_HEADER>() else {
            return truncated("frame's header", FRAME_HEADER - header.len());
        };
        let [length, low, high] = chunks::<4, 3>(header).map(u32::from_le_bytes);
        if length > MAX_FRAME {
            return Err(IvfError::TooLong { length, at });
        }
        let bytes = read(&mut self.input, length as usize)?;
        if bytes.len() < length as usize {
            return truncated("frame", length as usize - bytes.len());
        }
        self.at += FRAME_HEADER as u64 + u64::from(length);
        Ok(Some(Frame { time: u64::from(low) | u64::from(high) << 32, bytes }))
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Frame, IvfError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let frame = self.frame().transpose();
        self.is_over = !matches!(frame, Some(Ok(_)));
        frame
    }
}

/// Reads up to `length` bytes: fewer at the end.
fn read(input: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(length as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes a file.
#[derive(Debug, Clone)]
pub struct Writer<W> {
    out: W,
}

impl<W: Write> Writer<W> {
    /// Position of the number of frames in the header, in four bytes, little-endian.
    pub const FRAME_COUNT: u64 = 24;

    /// Writes the header. The number of frames is written as unknown (0), which players accept.
    ///
    /// # Errors
    /// Errors of writing to `out`.
    pub fn new(mut out: W, header: Header) -> io::Result<Self> {
        let Header { codec, width, height, rate, scale } = header;
        out.write_all(START)?;
        out.write_all(&codec)?;
        out.write_all(&[width.to_le_bytes(), height.to_le_bytes()].concat())?;
        out.write_all(&[rate.to_le_bytes(), scale.to_le_bytes(), [0; 4], [0; 4]].concat())?;
        Ok(Self { out })
    }

    /// Writes a frame with its presentation time, in the header's units.
    ///
    /// # Errors
    /// Errors of writing to `out`, and when the frame has 4 GB or more.
    pub fn write(&mut self, time: u64, frame: &[u8]) -> io::Result<()> {
        let length = u32::try_from(frame.len()).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(&time.to_le_bytes())?;
        self.out.write_all(frame)
    }

    /// Returns the underlying writer.
    pub fn finish(self) -> W {
        self.out
    }
}

/// Splits bytes into groups of equal length.
fn chunks<const LENGTH: usize, const COUNT: usize>(bytes: &[u8]) -> [[u8; LENGTH]; COUNT] {
    std::array::from_fn(|i| std::array::from_fn(|j| bytes[i * LENGTH + j]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header::vp8(Size::new(640, 480).unwrap(), (30_000, 1001))
    }

    fn file() -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), header()).unwrap();
        writer.write(7, &[1, 2, 3]).unwrap();
        writer.write(u64::MAX, &[]).unwrap();
        writer.finish()
    }

    fn open(file: &[u8]) -> Result<Reader<&[u8]>, IvfError> {
        Reader::new(file, &[VP8, H264])
    }

    #[test]
    fn frames_come_back_with_their_times() {
        let file = file();
        let reader = open(&file).unwrap();
        assert_eq!(reader.header(), header());
        let frames: Vec<_> = reader.map(Result::unwrap).collect();
        assert_eq!(frames, [Frame { time: 7, bytes: vec![1, 2, 3] }, Frame { time: u64::MAX, bytes: vec![] }]);
    }

    #[test]
    fn files_that_end_too_early_say_where() {
        let file = file();
        let ends = |error| match error {
            IvfError::Truncated { part, at, missing } => (part, at, missing),
            other => panic!("{other}"),
        };
        assert_eq!(ends(open(&file[..31]).unwrap_err()), ("header", 0, 1));
        let last = |length: usize| ends(open(&file[..length]).unwrap().last().unwrap().unwrap_err());
        assert_eq!(last(46), ("frame", 32, 1));
        assert_eq!(last(58), ("frame's header", 47, 1));
    }

    #[test]
    fn other_files_are_refused_and_so_are_lengths_that_no_frame_has() {
        let mut other = file();
        other[35] = 0xff;
        let mut reader = open(&other).unwrap();
        assert!(matches!(reader.next(), Some(Err(IvfError::TooLong { at: 32, .. }))) && reader.next().is_none());
        other[8..12].copy_from_slice(b"VQ80");
        assert!(open(&other).unwrap_err().to_string().contains("codec VQ80, allowed are VP80, H264"));
        other[0] = b'X';
        assert!(matches!(open(&other), Err(IvfError::Start { .. })));
    }
}
