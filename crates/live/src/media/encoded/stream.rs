//! Streams of encoded frames in the formats that are read, recognised by their first bytes or by ffprobe.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};

use thalweg_transport::sdp::VideoCodec;
use thalweg_units::{Size, Span};
use thalweg_video::ffmpeg::{Process, input, is_address, probe};
use thalweg_video::source::{SourceError, time_of_picture};
use thalweg_wire::h264::{self, Sequence};

use super::access_units::AccessUnits;
use super::ivf::Ivf;
use super::mpeg_ts::{self, MpegTs};

/// An open stream.
pub(super) struct Stream {
    frames: Frames,
    /// Its first sequence parameter set, if it comes before the first picture.
    pub(super) sequence: Option<Sequence>,
    /// Its mean frame rate, if the container has one.
    pub(super) frame_rate: Option<(u32, u32)>,
}

/// The format that frames are read from.
enum Frames {
    Ivf(Ivf<Input>),
    /// A byte stream, which has no times, and the number of the next frame.
    AnnexB(AccessUnits<Input>, u64),
    /// Any other container of H.264, as ffmpeg writes it, and its first unit.
    MpegTs(MpegTs<Process>, Option<(Vec<u8>, Span)>),
}

type Input = Box<dyn Read + Send>;

impl Stream {
    /// Opens the stream of this name.
    pub(super) fn open(name: &str) -> Result<Stream, SourceError> {
        if name == "-" {
            return Stream::recognise(name, Box::new(io::stdin()))?.ok_or_else(|| {
                let problem = "neither IVF (\"DKIF\") nor a byte stream of H.264 (00 00 01): pipe it through ffmpeg -c:v copy -f ivf \
                               or, for H.264, -f h264";
                SourceError::format("standard input", problem)
            });
        }
        let arguments = input(name)?;
        if !is_address(name) {
            let file = File::open(name).map_err(|error| SourceError::io(name, error))?;
            if let Some(stream) = Stream::recognise(name, Box::new(BufReader::new(file)))? {
                return Ok(stream);
            }
        }
        let about = probe(name)?;
        let frame_rate = Some(about.frame_rate).filter(|(frames, seconds)| *frames > 0 && *seconds > 0);
        let start = |more: &[&str]| {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).chain(more.iter().copied()).collect();
            Process::start(name, &arguments)
        };
        match about.codec.as_str() {
            "vp8" | "vp9" => {
                let ffmpeg: Input =
                    Box::new(start(&["-map", "0:V:0", "-c:v", "copy", "-flush_packets", "1", "-f", "ivf", "-"])?);
                let frames = Frames::Ivf(Ivf::new(name, ffmpeg)?);
                Ok(Stream { frames, sequence: None, frame_rate })
            }
            "h264" if about.is_reordered => Err(SourceError::format(name, advised(name, REORDERED))),
            "h264" => {
                let mut units = MpegTs::new(name, start(mpeg_ts::ARGUMENTS)?);
                let first = units.next_unit()?;
                let sequence = first.as_ref().and_then(|(unit, _)| h264::sequence(unit));
                Ok(Stream { frames: Frames::MpegTs(units, first), sequence, frame_rate })
            }
            other => {
                let problem = format!("its video is of the codec {other}, sent are vp8, vp9 and h264");
                Err(SourceError::format(name, advised(name, &problem)))
            }
        }
    }

    /// Recognises the format of `input` by its first bytes; `None` if it is neither IVF nor a byte stream of H.264.
    fn recognise(name: &str, mut input: Input) -> Result<Option<Stream>, SourceError> {
        /// More zeros before the first start code are no byte stream.
        const MOST_ZEROS: u64 = 1 << 16;
        let mut start = Vec::new();
        let mut read = |start: &mut Vec<u8>, count| {
            (&mut input).take(count).read_to_end(start).map_err(|error| SourceError::io(name, error))
        };
        read(&mut start, 4)?;
        // Any number of zeros may stand before the first start code (Annex B.1.1).
        while start.iter().all(|byte| *byte == 0) && (start.len() as u64) < MOST_ZEROS && read(&mut start, 1)? > 0 {}
        let is_byte_stream = start.first() == Some(&0) && h264::start_code(&start).is_some();
        if is_byte_stream {
            read(&mut start, 2)?;
        }
        let is_hevc = h264::start_code(&start).and_then(|at| start.get(at + 3..at + 5)).is_some_and(begins_hevc);
        let is_ivf = start == b"DKIF";
        let whole: Input = Box::new(Cursor::new(start).chain(input));
        if is_ivf {
            let frames = Frames::Ivf(Ivf::new(name, whole)?);
            return Ok(Some(Stream { frames, sequence: None, frame_rate: None }));
        }
        if !is_byte_stream || is_hevc {
            return Ok(None);
        }
        let mut units = AccessUnits::new(name, whole);
        let sequence = units.sequence()?;
        Ok(Some(Stream { frames: Frames::AnnexB(units, 0), sequence, frame_rate: None }))
    }

    pub(super) fn codec(&self) -> VideoCodec {
        match &self.frames {
            Frames::Ivf(ivf) => ivf.codec(),
            Frames::AnnexB(..) | Frames::MpegTs(..) => VideoCodec::H264,
        }
    }

    /// The size of its pictures, if something before them says it.
    pub(super) fn size(&self) -> Option<Size> {
        match &self.frames {
            Frames::Ivf(ivf) => Some(ivf.size()).filter(|size| size.pixels() > 0),
            Frames::AnnexB(..) | Frames::MpegTs(..) => self.sequence.map(|sequence| sequence.size),
        }
    }

    /// Returns true if ffmpeg takes it out of its container, which IVF and byte streams need not.
    pub(super) fn is_from_ffmpeg(&self) -> bool {
        self.frame_rate.is_some() || matches!(self.frames, Frames::MpegTs(..))
    }

    pub(super) fn has_no_times(&self) -> bool {
        matches!(self.frames, Frames::AnnexB(..))
    }

    /// The frame rate that the container says, or the parameter sets.
    pub(super) fn own_rate(&self) -> Option<(u32, u32)> {
        self.frame_rate.or(self.sequence?.frame_rate)
    }

    /// The next frame and its time.
    pub(super) fn next_frame(&mut self, frame_rate: (u32, u32)) -> Result<Option<(Vec<u8>, Span)>, SourceError> {
        match &mut self.frames {
            Frames::Ivf(ivf) => ivf.next_frame(),
            Frames::AnnexB(units, number) => {
                let time = time_of_picture(frame_rate, *number);
                *number += 1;
                Ok(units.next_unit()?.map(|unit| (unit, time)))
            }
            Frames::MpegTs(units, first) => match first.take() {
                Some(first) => Ok(Some(first)),
                None => units.next_unit(),
            },
        }
    }
}

/// Why streams with B-frames are not sent: a receiver gets pictures in the order of decoding, with times that go back.
pub(super) const REORDERED: &str = "its pictures are decoded in another order than they are shown in (B-frames)";

/// A problem, and how to make a file without it.
pub(super) fn advised(name: &str, problem: &str) -> String {
    format!(
        "{problem}: leave --encoded out, or encode it once, by ffmpeg -i {name} -c:v libx264 -pix_fmt yuv420p -bf 0 -g 60 -c:a copy \
         out.mp4"
    )
}

/// Returns true if a byte stream begins with these two bytes of a unit of HEVC: parameter sets, a delimiter or a message
/// (ITU-T H.265 section 7.3.1.2 and table 7-1), in the lowest layer.
fn begins_hevc(header: &[u8]) -> bool {
    header[0] & 0x81 == 0 && header[1] == 1 && matches!(header[0] >> 1, 32..=35 | 39)
}
