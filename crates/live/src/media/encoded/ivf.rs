//! IVF as it comes: a header of 32 bytes, and before each frame its length and time.

use std::io::{self, Read};

use thalweg_transport::sdp::VideoCodec;
use thalweg_units::{Size, Span};
use thalweg_video::source::SourceError;

/// How many bytes a file's header has.
const HEADER: usize = 32;
/// How many bytes come before each frame.
const FRAME_HEADER: usize = 12;
/// More than any frame has: a length beyond it is not one, and nothing is allocated for it.
const LARGEST_FRAME: u32 = 1 << 26;

/// Reads the frames of an IVF stream.
pub(super) struct Ivf<R> {
    what: String,
    input: R,
    codec: VideoCodec,
    size: Size,
    /// Times count in `unit.0 / unit.1` seconds.
    unit: (u32, u32),
}

impl<R: Read> Ivf<R> {
    /// Reads the header.
    pub(super) fn new(what: &str, mut input: R) -> Result<Ivf<R>, SourceError> {
        let mut header = [0; HEADER];
        input.read_exact(&mut header).map_err(|error| broken(what, "header", error))?;
        if !header.starts_with(b"DKIF\0\0\x20\0") {
            let found = &header[..8];
            let problem =
                format!("not IVF: it begins with {found:02x?}, not with \"DKIF\", version 0 and a header of 32 bytes");
            return Err(SourceError::format(what, problem));
        }
        let codec = match &header[8..12] {
            b"VP80" => VideoCodec::Vp8,
            b"VP90" => VideoCodec::Vp9,
            b"H264" => VideoCodec::H264,
            other => {
                let other = String::from_utf8_lossy(other);
                return Err(SourceError::format(
                    what,
                    format!("frames of {other} in IVF, allowed are VP80, VP90 and H264"),
                ));
            }
        };
        let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let unit = (word(20), word(16));
        if unit.0 == 0 || unit.1 == 0 {
            let problem = format!("its times are in {}/{} seconds, allowed is any fraction above 0", unit.0, unit.1);
            return Err(SourceError::format(what, problem));
        }
        let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        Ok(Ivf { what: what.into(), input, codec, size: Size::new(half(12), half(14)), unit })
    }

    /// What the frames are of.
    pub(super) fn codec(&self) -> VideoCodec {
        self.codec
    }

    /// The size of its pictures, as the header has it; writers that do not know it leave zeros.
    pub(super) fn size(&self) -> Size {
        self.size
    }

    /// The next frame and when it is to be shown; `None` at the end.
    pub(super) fn next_frame(&mut self) -> Result<Option<(Vec<u8>, Span)>, SourceError> {
        let mut header = [0; FRAME_HEADER];
        // Between two frames, an end is one.
        let first = self.input.read(&mut header[..1]).map_err(|error| SourceError::io(&self.what, error))?;
        if first == 0 {
            return Ok(None);
        }
        let broken = |error| broken(&self.what, "frame", error);
        self.input.read_exact(&mut header[1..]).map_err(broken)?;
        let [length, low, high] =
            [0, 4, 8].map(|at| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]));
        if length > LARGEST_FRAME {
            let problem = format!("a frame of {length} bytes, allowed are up to {LARGEST_FRAME}: the file is broken");
            return Err(SourceError::format(&self.what, problem));
        }
        let mut frame = vec![0; length as usize];
        self.input.read_exact(&mut frame).map_err(broken)?;
        let units = i128::from(u64::from(low) | u64::from(high) << 32);
        let nanos = units * i128::from(self.unit.0) * 1_000_000_000 / i128::from(self.unit.1);
        Ok(Some((frame, Span::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX)))))
    }
}

fn broken(what: &str, part: &str, error: io::Error) -> SourceError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            SourceError::format(what, format!("it ends within a {part}: the file is cut off"))
        }
        _ => SourceError::io(what, error),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// An IVF file of these frames, times in thirtieths of a second.
    pub(in crate::media::encoded) fn file(codec: &[u8; 4], frames: &[(u64, &[u8])]) -> Vec<u8> {
        let mut out = [&b"DKIF\0\0\x20\0"[..], codec, &[64, 0, 48, 0]].concat();
        out.extend([30u32, 1, 0, 0].iter().flat_map(|word| word.to_le_bytes()));
        for (time, frame) in frames {
            out.extend_from_slice(&(frame.len() as u32).to_le_bytes());
            out.extend_from_slice(&time.to_le_bytes());
            out.extend_from_slice(frame);
        }
        out
    }

    #[test]
    fn frames_come_with_their_times() {
        let bytes = file(b"VP90", &[(0, &[1]), (3, &[2, 3]), (u64::MAX, &[])]);
        let mut ivf = Ivf::new("a file", &bytes[..]).unwrap();
        assert_eq!((ivf.codec(), ivf.size()), (VideoCodec::Vp9, Size::new(64, 48)));
        assert_eq!(ivf.next_frame().unwrap(), Some((vec![1], Span::ZERO)));
        assert_eq!(ivf.next_frame().unwrap(), Some((vec![2, 3], Span::from_millis(100))));
        assert_eq!(ivf.next_frame().unwrap(), Some((Vec::new(), Span::MAX)));
        assert_eq!(ivf.next_frame().unwrap(), None);
    }

    #[test]
    fn broken_and_foreign_files_say_what_is_wrong() {
        let good = file(b"VP80", &[(0, &[1, 2])]);
        let problem = |bytes: &[u8]| match Ivf::new("a file", bytes) {
            Ok(mut ivf) => ivf.next_frame().unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        assert!(problem(&good[..31]).contains("within a header"));
        assert!(problem(&good[..40]).contains("within a frame") && problem(&good[..45]).contains("within a frame"));
        for (at, value, expected) in [(0, b'X', "not IVF"), (9, b'Q', "VQ80"), (16, 0, "seconds"), (35, 0xff, "bytes")]
        {
            let mut bad = good.clone();
            bad[at] = value;
            assert!(problem(&bad).contains(expected), "{}", problem(&bad));
        }
    }
}
