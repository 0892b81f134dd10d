//! Recorded files: frames as received, and decoded pictures.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use thalweg_transport::sdp::VideoCodec;
use thalweg_video::source::{Format, Y4mWriter};
use thalweg_video::{Picture, Size, scale};
use thalweg_vp8::ivf;

use super::error::MeasureError;

/// RTP timestamp ticks of video per second.
const TICKS: u32 = 90_000;
/// Maximum number of repeated pictures for a pause in a y4m file, which has equal intervals; longer pauses are
/// shortened.
const MAX_REPEATED_FRAMES: u64 = 300;

/// The output format.
enum Output {
    Ivf(ivf::Writer<BufWriter<File>>),
    ByteStream(BufWriter<File>),
}

/// Writes frames as received: VP8, VP9 and AV1 as IVF with their times, H.264 as a byte stream (Annex B).
pub(crate) struct Recorder {
    path: PathBuf,
    output: Output,
    codec: VideoCodec,
    /// The session's first timestamp, and the corresponding time in the file.
    first: Option<u64>,
    base: u64,
    next: u64,
    frames: u32,
}

impl Recorder {
    /// Creates a file.
    pub(crate) fn create(path: &Path, codec: VideoCodec, size: Size) -> Result<Recorder, MeasureError> {
        let failed = |error| MeasureError::Write { path: path.into(), error };
        let file = BufWriter::new(File::create(path).map_err(failed)?);
        let header = |codec| ivf::Header { codec, width: size.width, height: size.height, rate: TICKS, scale: 1 };
        let ivf = |file, codec| ivf::Writer::new(file, header(codec)).map(Output::Ivf).map_err(failed);
        let output = match codec {
            VideoCodec::Vp8 => ivf(file, ivf::VP8)?,
            VideoCodec::Vp9 => ivf(file, ivf::VP9)?,
            VideoCodec::Av1 => ivf(file, ivf::AV1)?,
            VideoCodec::H264 => Output::ByteStream(file),
        };
        Ok(Recorder { path: path.into(), output, codec, first: None, base: 0, next: 0, frames: 0 })
    }

    /// Adds a frame with its unwrapped RTP timestamp.
    pub(crate) fn add(&mut self, timestamp: u64, frame: &[u8]) -> Result<(), MeasureError> {
        let time = self.base + timestamp.saturating_sub(*self.first.get_or_insert(timestamp));
        self.next = time + u64::from(TICKS) / 30;
        self.frames += 1;
        let written = match &mut self.output {
            Output::Ivf(ivf) => ivf.write(time, frame),
            Output::ByteStream(file) => file.write_all(frame),
        };
        written.map_err(|error| MeasureError::Write { path: self.path.clone(), error })
    }

    /// The codec of the file.
    pub(crate) fn codec(&self) -> VideoCodec {
        self.codec
    }

    /// A new session with its own timestamps begins: it continues one picture after the last frame.
    pub(crate) fn begin_anew(&mut self) {
        (self.first, self.base) = (None, self.next);
    }

    /// Flushes the file and writes the number of frames.
    pub(crate) fn finish(self) -> Result<(), MeasureError> {
        let write = || match self.output {
            Output::ByteStream(mut file) => file.flush(),
            Output::Ivf(ivf) => {
                let mut file = ivf.finish();
                file.seek(SeekFrom::Start(ivf::Writer::<File>::FRAME_COUNT))?;
                file.write_all(&self.frames.to_le_bytes())?;
                file.flush()
            }
        };
        match write() {
            // A pipe is not seekable; its header keeps no count.
            Err(error) if error.kind() == io::ErrorKind::NotSeekable => Ok(()),
            written => written.map_err(|error| MeasureError::Write { path: self.path.clone(), error }),
        }
    }
}

/// Writes pictures at equal intervals, as y4m requires: a missing picture is replaced by the one before.
pub(crate) struct Pictures {
    path: PathBuf,
    writer: Option<Y4mWriter<Box<dyn Write + Send>>>,
    format: Format,
    /// The session's first timestamp, and the corresponding picture in the file.
    first: Option<u64>,
    base: u64,
    written: u64,
    last: Option<Picture>,
}

impl Pictures {
    /// `-` is standard output. The size is that of the first picture; later ones are scaled to it.
    pub(crate) fn new(path: &Path, frame_rate: (u32, u32)) -> Pictures {
        let format = Format { size: Size::new(0, 0), frame_rate };
        Pictures { path: path.into(), writer: None, format, first: None, base: 0, written: 0, last: None }
    }

    /// A new session with its own timestamps begins.
    pub(crate) fn begin_anew(&mut self) {
        (self.first, self.base) = (None, self.written);
    }

    /// Returns true if standard output gets the pictures.
    pub(crate) fn is_piped(&self) -> bool {
        self.path.as_os_str() == "-"
    }

    /// Adds a picture with its unwrapped RTP timestamp.
    pub(crate) fn add(&mut self, timestamp: u64, picture: &Picture) -> Result<(), MeasureError> {
        let path = self.path.clone();
        self.put(timestamp, picture).map_err(|error| MeasureError::Write { path, error })
    }

    fn put(&mut self, timestamp: u64, picture: &Picture) -> io::Result<()> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => {
                let output: Box<dyn Write + Send> = if self.is_piped() {
                    Box::new(BufWriter::new(io::stdout()))
                } else {
                    Box::new(BufWriter::new(File::create(&self.path)?))
                };
                self.format.size = picture.size();
                self.writer.insert(Y4mWriter::new(output, self.format)?)
            }
        };
        let picture =
            if picture.size() == self.format.size { picture.clone() } else { scale(picture, self.format.size) };
        let (rate, per) = self.format.frame_rate;
        let ticks = timestamp.saturating_sub(*self.first.get_or_insert(timestamp));
        let interval = u64::from(TICKS) * u64::from(per) / u64::from(rate);
        let index = self.base + (ticks + interval / 2) / interval;
        if let Some(last) = &self.last {
            let missing = index.saturating_sub(self.written).min(MAX_REPEATED_FRAMES);
            (0..missing).try_for_each(|_| writer.write(last))?;
        }
        writer.write(&picture)?;
        self.written = self.written.max(index) + 1;
        self.last = Some(picture);
        Ok(())
    }

    /// Flushes the file.
    pub(crate) fn finish(self) -> Result<(), MeasureError> {
        let finished = self.writer.map_or(Ok(()), Y4mWriter::finish);
        finished.map_err(|error| MeasureError::Write { path: self.path, error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temporary(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("thalweg-record-{}-{name}", std::process::id()))
    }

    fn taken(path: &Path) -> Vec<u8> {
        let bytes = std::fs::read(path).unwrap();
        std::fs::remove_file(path).unwrap();
        bytes
    }

    #[test]
    fn times_go_on_where_a_session_ended_and_the_header_counts_the_frames() {
        let path = temporary("a.ivf");
        let mut recorder = Recorder::create(&path, VideoCodec::Vp9, Size::new(64, 48)).unwrap();
        recorder.add(1 << 32, &[1, 2]).unwrap();
        recorder.add((1 << 32) + 6000, &[3]).unwrap();
        recorder.begin_anew();
        recorder.add(77, &[4]).unwrap();
        recorder.finish().unwrap();
        let bytes = taken(&path);
        assert_eq!((&bytes[..12], bytes[24]), (&b"DKIF\0\0\x20\0VP90"[..], 3));
        let time = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!([time(32 + 4), time(32 + 14 + 4), time(32 + 14 + 13 + 4)], [0, 6000, 9000]);
    }

    #[test]
    fn a_byte_stream_is_the_frames_and_nothing_else() {
        let path = temporary("a.h264");
        let mut recorder = Recorder::create(&path, VideoCodec::H264, Size::new(64, 48)).unwrap();
        recorder.add(5, &[0, 0, 1, 7]).unwrap();
        recorder.add(9, &[0, 0, 1, 8]).unwrap();
        recorder.finish().unwrap();
        assert_eq!(taken(&path), [0, 0, 1, 7, 0, 0, 1, 8]);
    }

    #[test]
    fn where_pictures_are_missing_the_one_before_stays_and_all_have_one_size() {
        let path = temporary("a.y4m");
        let mut pictures = Pictures::new(&path, (30, 1));
        let picture = |size, luma| Picture::filled(size, luma, 128, 128);
        pictures.add(9000, &picture(Size::new(16, 16), 10)).unwrap();
        pictures.add(9000 + 3 * 3000 + 40, &picture(Size::new(16, 16), 20)).unwrap();
        pictures.begin_anew();
        pictures.add(3, &picture(Size::new(32, 32), 30)).unwrap();
        pictures.finish().unwrap();
        let bytes = taken(&path);
        let header = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let lumas: Vec<u8> = bytes[header..].chunks(6 + 16 * 16 * 3 / 2).map(|frame| frame[6]).collect();
        assert_eq!(lumas, [10, 10, 10, 20, 30]);
    }
}
