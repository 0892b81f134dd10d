//! An IVF stream to send: its codec, and its times as [`Span`]s.

use std::io::Read;

use thalweg_transport::sdp::VideoCodec;
use thalweg_units::{Size, Span};
use thalweg_video::source::SourceError;
use thalweg_vp8::ivf::{self, IvfError, Reader};

/// Reads the frames of an IVF stream.
pub struct Ivf<R> {
    what: String,
    reader: Reader<R>,
    codec: VideoCodec,
}

impl<R: Read> Ivf<R> {
    /// Reads the header.
    pub fn new(what: &str, input: R) -> Result<Ivf<R>, SourceError> {
        let reader = Reader::new(input, &[ivf::VP8, ivf::VP9, ivf::H264]).map_err(|error| source_error(what, error))?;
        let header = reader.header();
        let codec = match header.codec {
            ivf::VP8 => VideoCodec::Vp8,
            ivf::VP9 => VideoCodec::Vp9,
            _ => VideoCodec::H264,
        };
        if header.rate == 0 || header.scale == 0 {
            let unit = format!("{}/{}", header.scale, header.rate);
            let problem = format!("its times are in {unit} seconds, allowed is any fraction above 0");
            return Err(SourceError::format(what, problem));
        }
        Ok(Ivf { what: what.into(), reader, codec })
    }

    /// The codec of the frames.
    pub fn codec(&self) -> VideoCodec {
        self.codec
    }

    /// The picture size in the header; zeros if the writer did not know it.
    pub fn size(&self) -> Size {
        let header = self.reader.header();
        Size::new(header.width, header.height)
    }

    /// The next frame and its presentation time; `None` at the end.
    pub fn next_frame(&mut self) -> Result<Option<(Vec<u8>, Span)>, SourceError> {
        let Some(frame) = self.reader.next() else { return Ok(None) };
        let frame = frame.map_err(|error| source_error(&self.what, error))?;
        let header = self.reader.header();
        let nanos = i128::from(frame.time) * i128::from(header.scale) * 1_000_000_000 / i128::from(header.rate);
        Ok(Some((frame.bytes, Span::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX)))))
    }
}

fn source_error(what: &str, error: IvfError) -> SourceError {
    match error {
        IvfError::Io(error) => SourceError::io(what, error),
        other => SourceError::format(what, other.to_string()),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// An IVF file of these frames, with times in thirtieths of a second.
    pub(in crate::media::encoded) fn file(codec: &[u8; 4], frames: &[(u64, &[u8])]) -> Vec<u8> {
        let header = ivf::Header { codec: *codec, width: 64, height: 48, rate: 30, scale: 1 };
        let mut writer = ivf::Writer::new(Vec::new(), header).unwrap();
        frames.iter().for_each(|(time, frame)| writer.write(*time, frame).unwrap());
        writer.finish()
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
    fn a_file_without_a_unit_of_time_is_refused() {
        let mut bytes = file(b"VP80", &[(0, &[1, 2])]);
        bytes[16] = 0;
        let error = Ivf::new("a file", &bytes[..]).err().unwrap().to_string();
        assert!(error.contains("a file: its times are in 1/0 seconds"), "{error}");
    }
}
