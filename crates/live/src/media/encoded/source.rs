//! A source of encoded frames, selected by name.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

use thalweg_transport::sdp::VideoCodec;
use thalweg_units::{Size, Span};
use thalweg_video::ffmpeg::{Process, probe};
use thalweg_video::source::{SourceError, time_of_picture};
use thalweg_wire::h264::{self, ParameterSets};
use thalweg_wire::{av1, vp8, vp9};

use super::access_units::AccessUnits;
use super::ivf::Ivf;
use crate::media::Repeat;

/// A frame to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedVideoFrame {
    /// Its bytes; for H.264 an access unit (Annex B), key frames with their parameter sets.
    pub data: Vec<u8>,
    /// True if decoding can begin with it.
    pub keyframe: bool,
    /// Its presentation time, counted from the first frame.
    pub time: Span,
}

/// Options of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodedOptions {
    /// Behaviour at the end.
    pub repeat: Repeat,
    /// Frame rate as a fraction, pictures per so many seconds: used where the source has no presentation times (Annex
    /// B), and for the interval between the last frame and the repeated first one of a file that is too short to have
    /// an interval.
    pub frame_rate: (u32, u32),
}

impl Default for EncodedOptions {
    /// Played once, at 30 fps.
    fn default() -> EncodedOptions {
        EncodedOptions { repeat: Repeat::Once, frame_rate: (30, 1) }
    }
}

/// A sequence of encoded frames that starts with a key frame.
pub struct EncodedSource {
    what: String,
    options: EncodedOptions,
    stream: Stream,
    sets: ParameterSets,
    /// Time of the file minus time of the source.
    shift: Span,
    /// The last frame's time, and the interval before it; `None` before the first frame.
    last: Option<(Span, Span)>,
}

/// An open stream.
struct Stream {
    frames: Frames,
    /// Its frame rate, if the container has one and the frames have no times.
    frame_rate: Option<(u32, u32)>,
}

/// The format that frames are read from.
enum Frames {
    Ivf(Ivf<Input>),
    AnnexB { units: AccessUnits<Input>, size: Option<Size>, number: u64 },
}

type Input = Box<dyn Read + Send>;

impl EncodedSource {
    /// Opens a file, standard input (`-`), or any input of ffmpeg.
    ///
    /// # Errors
    /// When the file does not exist or is not readable, standard input is to be repeated, the codec is not supported,
    /// the frame rate is zero, or ffmpeg is not installed or reports an error.
    pub fn open(name: &str, options: EncodedOptions) -> Result<EncodedSource, SourceError> {
        let (frames, seconds) = options.frame_rate;
        if frames == 0 || seconds == 0 {
            let problem = format!("{frames}/{seconds} fps, allowed is any fraction above 0, such as 30/1");
            return Err(SourceError::format(name, problem));
        }
        if name == "-" && options.repeat == Repeat::Forever {
            return Err(SourceError::format(
                name,
                "standard input cannot be read again: name a file, or do not repeat it",
            ));
        }
        let stream = Stream::open(name)?;
        let options = EncodedOptions { frame_rate: stream.frame_rate.unwrap_or(options.frame_rate), ..options };
        let (sets, shift) = (ParameterSets::new(), Span::ZERO);
        Ok(EncodedSource { what: name.into(), options, stream, sets, shift, last: None })
    }

    /// The codec of its frames.
    pub fn codec(&self) -> VideoCodec {
        self.stream.codec()
    }

    /// The picture size, if the container has it, or for H.264 a parameter set before the first picture.
    pub fn size(&self) -> Option<Size> {
        match &self.stream.frames {
            Frames::Ivf(ivf) => Some(ivf.size()).filter(|size| size.pixels() > 0),
            Frames::AnnexB { size, .. } => *size,
        }
    }

    /// The frame rate as a fraction, pictures per so many seconds: the container's, or that of the options if it has
    /// none.
    pub fn frame_rate(&self) -> (u32, u32) {
        self.options.frame_rate
    }

    /// The next frame; `None` at the end. Frames before the first key frame are skipped. Blocks if the input is a pipe.
    ///
    /// # Errors
    /// A read error.
    pub fn next_frame(&mut self) -> Result<Option<EncodedVideoFrame>, SourceError> {
        let mut begins = self.last.is_none();
        loop {
            let Some((data, time)) = self.stream.frames.next_frame(self.options.frame_rate)? else {
                // A file without key frames has none in the second round either.
                let Some((last, interval)) = self.last.filter(|_| self.options.repeat == Repeat::Forever && !begins)
                else {
                    return Ok(None);
                };
                self.stream = Stream::open(&self.what)?;
                // The next round follows the last frame at the interval between the last two frames.
                self.shift = last + interval;
                begins = true;
                continue;
            };
            let keyframe = match self.codec() {
                VideoCodec::Vp8 => vp8::is_keyframe(&data),
                VideoCodec::Vp9 => vp9::is_keyframe(&data),
                VideoCodec::H264 => h264::is_keyframe(&data),
                VideoCodec::Av1 => av1::is_keyframe(&data),
            };
            let data = if self.codec() == VideoCodec::H264 { self.sets.complete(&data).into_owned() } else { data };
            // An empty frame stands for a picture that the encoder skipped.
            if data.is_empty() || begins && !keyframe {
                continue;
            }
            if begins {
                // The first frame's time is zero, or the end of the last round.
                self.shift -= time;
            }
            let time = time + self.shift;
            let interval = match self.last {
                Some((last, _)) if time > last => time - last,
                Some((_, interval)) => interval,
                None => interval(self.options.frame_rate),
            };
            self.last = Some((time, interval));
            return Ok(Some(EncodedVideoFrame { data, keyframe, time }));
        }
    }
}

impl Stream {
    /// Opens the stream of this name.
    fn open(name: &str) -> Result<Stream, SourceError> {
        let is_address = name.contains("://");
        if name != "-" && !is_address && !Path::new(name).exists() {
            return Err(SourceError::format(name, "no such file; for standard input say -"));
        }
        if !is_address {
            let input: Input = if name == "-" {
                Box::new(io::stdin())
            } else {
                Box::new(BufReader::new(File::open(name).map_err(|error| SourceError::io(name, error))?))
            };
            if let Some(frames) = Frames::recognise(name, input)? {
                return Ok(Stream { frames, frame_rate: None });
            }
            if name == "-" {
                let problem = "neither IVF (\"DKIF\") nor a byte stream of H.264 (00 00 01): pipe it through ffmpeg -c:v copy -f ivf -";
                return Err(SourceError::format(name, problem));
            }
        }
        // A path may begin like an option, or contain a colon.
        let input = if is_address { name.to_string() } else { format!("file:{name}") };
        let (codec, frame_rate) = probe(&input)?;
        let format = match codec.as_str() {
            "vp8" | "vp9" => "ivf",
            "h264" => "h264",
            other => {
                let problem = format!(
                    "video of the codec {other}, sent are vp8, vp9 and h264: encode it, or let the engine do so"
                );
                return Err(SourceError::format(name, problem));
            }
        };
        let arguments = ["-i", &input, "-map", "0:v:0", "-c:v", "copy", "-flush_packets", "1", "-f", format, "-"];
        let ffmpeg = Process::start(name, &arguments)?;
        let frame_rate = Some(frame_rate).filter(|(frames, seconds)| *frames > 0 && *seconds > 0);
        match Frames::recognise(name, Box::new(ffmpeg))? {
            Some(frames) => Ok(Stream { frames, frame_rate }),
            None => Err(SourceError::format(name, "ffmpeg finds no video in it")),
        }
    }

    fn codec(&self) -> VideoCodec {
        match &self.frames {
            Frames::Ivf(ivf) => ivf.codec(),
            Frames::AnnexB { .. } => VideoCodec::H264,
        }
    }
}

impl Frames {
    /// Recognises the format of `input` by its first bytes; `None` if it is neither.
    fn recognise(name: &str, mut input: Input) -> Result<Option<Frames>, SourceError> {
        let mut start = Vec::new();
        (&mut input).take(4).read_to_end(&mut start).map_err(|error| SourceError::io(name, error))?;
        let whole: Input = Box::new(Cursor::new(start.clone()).chain(input));
        if start == b"DKIF" {
            return Ivf::new(name, whole).map(|ivf| Some(Frames::Ivf(ivf)));
        }
        if start != [0, 0, 0, 1] && !start.starts_with(&[0, 0, 1]) {
            return Ok(None);
        }
        let mut units = AccessUnits::new(name, whole);
        let size = units.size()?;
        Ok(Some(Frames::AnnexB { units, size, number: 0 }))
    }

    /// The next frame and its time.
    fn next_frame(&mut self, frame_rate: (u32, u32)) -> Result<Option<(Vec<u8>, Span)>, SourceError> {
        match self {
            Frames::Ivf(ivf) => ivf.next_frame(),
            Frames::AnnexB { units, number, .. } => {
                let time = time_of_picture(frame_rate, *number);
                *number += 1;
                Ok(units.next_unit()?.map(|unit| (unit, time)))
            }
        }
    }
}

/// The interval between two pictures.
fn interval(frame_rate: (u32, u32)) -> Span {
    time_of_picture(frame_rate, 1)
}

#[cfg(test)]
mod tests {
    use super::super::ivf::tests::file;
    use super::*;
    use crate::media::testing::{Scratch, ffmpeg};

    const FOREVER: EncodedOptions = EncodedOptions { repeat: Repeat::Forever, frame_rate: (30, 1) };

    fn frames(name: &str, options: EncodedOptions, max: usize) -> (VideoCodec, Vec<EncodedVideoFrame>) {
        let mut source = EncodedSource::open(name, options).unwrap();
        let frames = (0..max).map_while(|_| source.next_frame().unwrap()).collect();
        (source.codec(), frames)
    }

    fn millis(frames: &[EncodedVideoFrame]) -> Vec<i64> {
        frames.iter().map(|frame| frame.time.as_millis()).collect()
    }

    #[test]
    fn a_file_begins_with_its_first_key_frame_and_goes_round_in_its_own_rhythm() {
        let folder = Scratch::new("rounds");
        let path = folder.path("vp8.ivf");
        // In VP8 an even first byte means a key frame; the frame before the first key frame and the empty one are not
        // sent.
        let bytes = file(b"VP80", &[(2, &[1]), (3, &[0, 1]), (6, &[1, 2]), (7, &[]), (12, &[1, 3])]);
        std::fs::write(&path, bytes).unwrap();
        let (codec, once) = frames(&path, EncodedOptions::default(), 10);
        assert_eq!((codec, millis(&once)), (VideoCodec::Vp8, vec![0, 100, 300]));
        let source = EncodedSource::open(&path, EncodedOptions::default()).unwrap();
        assert_eq!((source.size(), source.frame_rate()), (Some(Size::new(64, 48)), (30, 1)));
        assert_eq!(once.iter().map(|frame| frame.keyframe).collect::<Vec<_>>(), [true, false, false]);
        let (_, rounds) = frames(&path, FOREVER, 7);
        assert_eq!(millis(&rounds), [0, 100, 300, 500, 600, 800, 1000]);
        assert_eq!(rounds[3].data, [0, 1]);
    }

    #[test]
    fn one_picture_is_repeated_at_the_rate_given_and_none_is_not() {
        let folder = Scratch::new("still");
        let (still, without) = (folder.path("still.ivf"), folder.path("without.ivf"));
        std::fs::write(&still, file(b"VP80", &[(100, &[0])])).unwrap();
        std::fs::write(&without, file(b"VP80", &[(0, &[1]), (1, &[3])])).unwrap();
        let options = EncodedOptions { frame_rate: (25, 1), ..FOREVER };
        assert_eq!(millis(&frames(&still, options, 4).1), [0, 40, 80, 120]);
        assert_eq!(frames(&without, FOREVER, 4).1, []);
    }

    /// A test video made by ffmpeg: 30 frames in one second, a key frame every ten.
    fn made(path: &str, encoder: &[&str]) {
        let source =
            ["-f", "lavfi", "-i", "testsrc=size=160x120:rate=30:duration=1", "-g", "10", "-pix_fmt", "yuv420p"];
        ffmpeg(&[&source[..], encoder, &[path]].concat());
    }

    fn check(path: &str, expected: VideoCodec) -> Vec<EncodedVideoFrame> {
        let (codec, frames) = frames(path, EncodedOptions::default(), 100);
        assert_eq!((codec, frames.len()), (expected, 30), "{path}");
        for (index, frame) in frames.iter().enumerate() {
            assert_eq!(frame.keyframe, index % 10 == 0, "{path}, frame {index}");
            let off = (frame.time - time_of_picture((30, 1), index as u64)).abs();
            assert!(off < Span::from_millis(1), "{path}, frame {index}: {}", frame.time);
        }
        frames
    }

    #[test]
    fn vp8_and_vp9_come_out_of_ivf_and_other_containers() {
        let folder = Scratch::new("vpx");
        for (encoder, codec) in [("libvpx", VideoCodec::Vp8), ("libvpx-vp9", VideoCodec::Vp9)] {
            let (ivf, webm) = (folder.path(&format!("{encoder}.ivf")), folder.path(&format!("a: {encoder}.webm")));
            made(&ivf, &["-c:v", encoder, "-deadline", "realtime", "-cpu-used", "8", "-auto-alt-ref", "0"]);
            ffmpeg(&["-i", &ivf, "-c", "copy", &webm]);
            let frames = check(&ivf, codec);
            let same: Vec<_> = check(&webm, codec).into_iter().map(|frame| frame.data).collect();
            assert_eq!(same, frames.into_iter().map(|frame| frame.data).collect::<Vec<_>>());
        }
    }

    #[test]
    fn h264_comes_out_of_byte_streams_and_other_containers() {
        let folder = Scratch::new("h264");
        let delimited = ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-x264-params", "aud=1"];
        // With four slices per picture, and without slicing: what ends an access unit differs.
        let sliced = ["-c:v", "libx264", "-preset", "ultrafast", "-bf", "0", "-x264-params", "slices=4:scenecut=0"];
        for (name, encoder) in [("delimited", delimited), ("sliced", sliced)] {
            let (stream, mp4) = (folder.path(&format!("{name}.h264")), folder.path(&format!("{name}.mp4")));
            made(&stream, &encoder);
            ffmpeg(&["-r", "30", "-i", &stream, "-c", "copy", &mp4]);
            let frames = check(&stream, VideoCodec::H264);
            let source = EncodedSource::open(&stream, EncodedOptions::default()).unwrap();
            assert_eq!(source.size(), Some(Size::new(160, 120)));
            for frame in frames.iter().filter(|frame| frame.keyframe) {
                let kinds: Vec<_> = h264::units(&frame.data).map(|unit| h264::UnitKind::of(unit[0])).collect();
                assert!(kinds.contains(&h264::UnitKind::SequenceParameters), "{kinds:?}");
                assert!(kinds.contains(&h264::UnitKind::PictureParameters), "{kinds:?}");
            }
            // No frame is lost: the output decodes to as many pictures.
            let again = folder.path(&format!("{name}-again.h264"));
            std::fs::write(&again, frames.iter().flat_map(|frame| frame.data.clone()).collect::<Vec<u8>>()).unwrap();
            let raw = folder.path(&format!("{name}.yuv"));
            ffmpeg(&["-i", &again, "-f", "rawvideo", &raw]);
            assert_eq!(std::fs::metadata(&raw).unwrap().len(), 30 * 160 * 120 * 3 / 2);
            check(&mp4, VideoCodec::H264);
        }
    }

    #[test]
    fn what_is_no_source_is_refused_with_what_is() {
        let problem = |name: &str, options| EncodedSource::open(name, options).err().unwrap().to_string();
        assert!(problem("/nowhere/at/all.ivf", FOREVER).contains("no such file"));
        assert!(problem("-", FOREVER).contains("cannot be read again"));
        assert!(problem("-", EncodedOptions { frame_rate: (0, 1), ..FOREVER }).contains("0/1 fps"));
        let folder = Scratch::new("other");
        let (text, other) = (folder.path("text.txt"), folder.path("other.avi"));
        std::fs::write(&text, "Not a picture.").unwrap();
        assert!(problem(&text, FOREVER).contains("text.txt"), "{}", problem(&text, FOREVER));
        made(&other, &["-c:v", "mjpeg"]);
        assert!(problem(&other, FOREVER).contains("codec mjpeg"), "{}", problem(&other, FOREVER));
    }
}
