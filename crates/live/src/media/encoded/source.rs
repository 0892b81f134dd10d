//! A source of encoded frames, selected by name.

use std::thread::JoinHandle;

use thalweg_emulate::thread::spawn;
use thalweg_transport::sdp::VideoCodec;
use thalweg_units::{Size, Span};
use thalweg_video::ffmpeg::is_address;
use thalweg_video::source::{SourceError, time_of_picture};
use thalweg_wire::h264::{self, ParameterSets, Sequence, UnitKind};
use thalweg_wire::{av1, vp8, vp9};

use super::stream::{REORDERED, Stream, advised};
use crate::media::Repeat;

/// The frame rate of frames without times where nothing says it.
const USUAL: (u32, u32) = (30, 1);

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EncodedOptions {
    /// Behaviour at the end.
    pub repeat: Repeat,
    /// Frame rate as a fraction, pictures per so many seconds: used where the source has no presentation times (Annex
    /// B), and for the interval between the last frame and the repeated first one of a file that is too short to have
    /// an interval. If absent, the source's own (for Annex B that of its parameter sets), else 30 fps.
    pub frame_rate: Option<(u32, u32)>,
}

/// A sequence of encoded frames that starts with a key frame.
pub struct EncodedSource {
    what: String,
    options: EncodedOptions,
    stream: Stream,
    /// The stream of the next round, which is opened during this one: ffmpeg takes longer to start than frames are apart.
    next: Option<JoinHandle<Result<Stream, SourceError>>>,
    sets: ParameterSets,
    /// Time of the file minus time of the source.
    shift: Span,
    /// The last frame's time, and the interval before it; `None` before the first frame.
    last: Option<(Span, Span)>,
    /// The duration of the file, once it has begun again.
    round: Option<Span>,
    /// True once it was said that there are B-frames.
    has_warned: bool,
}

impl EncodedSource {
    /// Opens a file, standard input (`-`), or any input of ffmpeg.
    ///
    /// # Errors
    /// When the file does not exist or is not readable, standard input is to be repeated, the codec, or its profile, is not
    /// supported, pictures are in another order than they are shown in, the frame rate is zero, or ffmpeg is not installed
    /// or reports an error.
    pub fn open(name: &str, options: EncodedOptions) -> Result<EncodedSource, SourceError> {
        if let Some((frames, seconds)) = options.frame_rate.filter(|(frames, seconds)| *frames == 0 || *seconds == 0) {
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
        if let Some(problem) = stream.sequence.and_then(|sequence| unplayable(&sequence)) {
            return Err(SourceError::format(name, advised(name, problem)));
        }
        if stream.has_no_times() && options.frame_rate.or(stream.own_rate()).is_none() {
            tracing::warn!(video = name, "nothing says its frame rate: it plays at 30 fps; --frame-rate sets another");
        }
        if !stream.has_no_times() && options.frame_rate.is_some() {
            tracing::warn!(video = name, "--frame-rate has no effect: its frames have times of their own");
        }
        let (sets, shift) = (ParameterSets::new(), Span::ZERO);
        Ok(EncodedSource {
            what: name.into(),
            options,
            stream,
            next: None,
            sets,
            shift,
            last: None,
            round: None,
            has_warned: false,
        })
    }

    /// The codec of its frames.
    pub fn codec(&self) -> VideoCodec {
        self.stream.codec()
    }

    /// The picture size, if the container has it, or for H.264 a parameter set before the first picture.
    pub fn size(&self) -> Option<Size> {
        self.stream.size()
    }

    /// The frame rate as a fraction, pictures per so many seconds: that of the options, else the source's, else 30.
    pub fn frame_rate(&self) -> (u32, u32) {
        let own = || self.stream.own_rate();
        match self.stream.has_no_times() {
            true => self.options.frame_rate.or_else(own),
            false => own().or(self.options.frame_rate),
        }
        .unwrap_or(USUAL)
    }

    /// The file once more on a thread of its own, if it will begin again and ffmpeg reads it.
    fn opened_ahead(&self) -> Option<JoinHandle<Result<Stream, SourceError>>> {
        let is_slow = self.stream.is_from_ffmpeg() && !is_address(&self.what);
        let name = (self.options.repeat == Repeat::Forever && is_slow).then(|| self.what.clone())?;
        // Without a thread it is opened when it is needed.
        spawn("next round", move || Stream::open(&name)).ok()
    }

    /// The duration of the file, once it has begun again.
    pub fn round(&self) -> Option<Span> {
        self.round
    }

    /// The next frame; `None` at the end. Frames before the first key frame are skipped. Blocks if the input is a pipe.
    ///
    /// # Errors
    /// A read error, or the end before the first key frame.
    pub fn next_frame(&mut self) -> Result<Option<EncodedVideoFrame>, SourceError> {
        let mut begins = self.last.is_none();
        let mut skipped = 0;
        loop {
            let rate = self.frame_rate();
            let Some((data, time)) = self.stream.next_frame(rate)? else {
                let Some((last, interval)) = self.last else {
                    let problem = match skipped {
                        0 => "there is no frame in it".to_string(),
                        frames => format!("none of its {frames} frames is a key frame, with which decoding begins"),
                    };
                    return Err(SourceError::format(&self.what, problem));
                };
                // A round without key frames is followed by none.
                if self.options.repeat == Repeat::Once || begins {
                    return Ok(None);
                }
                self.stream = match self.next.take().map(JoinHandle::join) {
                    Some(Ok(opened)) => opened?,
                    _ => Stream::open(&self.what)?,
                };
                // The next round follows the last frame at the interval between the last two frames.
                self.shift = last + interval;
                self.round.get_or_insert(self.shift);
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
                skipped += u64::from(!data.is_empty());
                continue;
            }
            if self.codec() == VideoCodec::H264 && !self.has_warned && h264::units(&data).any(is_b_slice) {
                self.has_warned = true;
                tracing::warn!(
                    video = self.what,
                    "{}",
                    advised(&self.what, "it has B-frames, which few receivers show well")
                );
            }
            if begins {
                // The first frame's time is zero, or the end of the last round.
                self.shift -= time;
                self.next = self.opened_ahead();
            }
            let time = time + self.shift;
            let interval = match self.last {
                Some((last, _)) if time > last => time - last,
                Some((_, interval)) => interval,
                None => time_of_picture(rate, 1),
            };
            self.last = Some((time, interval));
            return Ok(Some(EncodedVideoFrame { data, keyframe, time }));
        }
    }
}

/// Why browsers do not show pictures of this sequence: they decode 4:2:0 of 8 bits, progressive, in the order that it is
/// shown in (RFC 7742 section 6.2 asks for Constrained Baseline; Chromium and Firefox decode Main and High too).
fn unplayable(sequence: &Sequence) -> Option<&'static str> {
    match sequence {
        Sequence { bit_depth: 9.., .. } => {
            Some("its H.264 has more than 8 bits a sample, which browsers do not decode")
        }
        Sequence { chroma_format: 0, .. } => Some("its H.264 has no chroma, which browsers do not decode"),
        Sequence { chroma_format: 2, .. } => Some("its H.264 is of 4:2:2, which browsers do not decode"),
        Sequence { chroma_format: 3, .. } => Some("its H.264 is of 4:4:4, which browsers do not decode"),
        Sequence { may_be_interlaced: true, .. } => {
            Some("its H.264 is interlaced, which browsers do not decode (-vf bwdif makes it progressive)")
        }
        Sequence { max_reordered: Some(1..), .. } => Some(REORDERED),
        _ => None,
    }
}

/// Returns true if a NAL unit is a B slice (ITU-T H.264 section 7.4.3, table 7-6).
fn is_b_slice(unit: &[u8]) -> bool {
    let is_slice = matches!(UnitKind::of(unit[0]), UnitKind::Slice);
    is_slice && h264::slice_type(unit).is_some_and(|kind| kind % 5 == 1)
}

#[cfg(test)]
mod tests {
    use super::super::ivf::tests::file;
    use super::*;
    use crate::media::testing::{Scratch, ffmpeg};

    const FOREVER: EncodedOptions = EncodedOptions { repeat: Repeat::Forever, frame_rate: None };

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
        let options = EncodedOptions { frame_rate: Some((25, 1)), ..FOREVER };
        assert_eq!(millis(&frames(&still, options, 4).1), [0, 40, 80, 120]);
        let error = EncodedSource::open(&without, FOREVER).unwrap().next_frame().unwrap_err().to_string();
        assert!(error.contains("none of its 2 frames is a key frame"), "{error}");
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
        assert!(problem("/nowhere/at/all.ivf", FOREVER).contains("No such file"));
        assert!(problem("-", FOREVER).contains("cannot be read again"));
        assert!(problem("-", EncodedOptions { frame_rate: Some((0, 1)), ..FOREVER }).contains("0/1 fps"));
        let folder = Scratch::new("other");
        let (text, other) = (folder.path("text.txt"), folder.path("other.avi"));
        std::fs::write(&text, "Not a picture.").unwrap();
        assert!(problem(&text, FOREVER).contains("text.txt"), "{}", problem(&text, FOREVER));
        made(&other, &["-c:v", "mjpeg"]);
        assert!(problem(&other, FOREVER).contains("codec mjpeg"), "{}", problem(&other, FOREVER));
    }

    /// Ten pictures at 10 a second of H.264 without B-frames, and a key frame each second one.
    const TEN: [&str; 12] = [
        "-f",
        "lavfi",
        "-i",
        "testsrc2=size=96x64:rate=10",
        "-frames:v",
        "10",
        "-c:v",
        "libx264",
        "-bf",
        "0",
        "-g",
        "2",
    ];

    #[test]
    fn h264_keeps_the_times_of_its_container() {
        let folder = Scratch::new("times");
        // Five frames 100 ms apart, and five 500 ms apart.
        let varying = ["-vf", "setpts='if(lt(N,5),N,5+(N-5)*5)/10/TB'", "-vsync", "vfr", "-pix_fmt", "yuv420p"];
        for container in ["mkv", "mp4", "flv", "ts"] {
            let path = folder.path(&format!("varying.{container}"));
            ffmpeg(&[&TEN[..], &varying, &[&path]].concat());
            let (codec, found) = frames(&path, EncodedOptions::default(), 20);
            assert_eq!(codec, VideoCodec::H264);
            assert_eq!(millis(&found), [0, 100, 200, 300, 400, 500, 1000, 1500, 2000, 2500], "{container}");
            let rounds = frames(&path, FOREVER, 12).1;
            assert_eq!(millis(&rounds)[10..], [3000, 3100], "{container}");
        }
    }

    #[test]
    fn a_byte_stream_plays_at_the_rate_of_its_parameter_sets_and_may_begin_with_zeros() {
        let folder = Scratch::new("byte-stream");
        let (plain, zeros) = (folder.path("plain.h264"), folder.path("zeros.h264"));
        ffmpeg(&[&TEN[..], &["-pix_fmt", "yuv420p", &plain]].concat());
        let bytes = std::fs::read(&plain).unwrap();
        std::fs::write(&zeros, [&[0; 5][..], &bytes].concat()).unwrap();
        let expected: Vec<i64> = (0..10).map(|frame| frame * 100).collect();
        for path in [&plain, &zeros] {
            assert_eq!(EncodedSource::open(path, FOREVER).unwrap().frame_rate(), (20, 2));
            assert_eq!(millis(&frames(path, EncodedOptions::default(), 20).1), expected);
        }
        let slower = EncodedOptions { frame_rate: Some((5, 1)), ..FOREVER };
        assert_eq!(millis(&frames(&plain, slower, 3).1), [0, 200, 400]);
    }

    #[test]
    fn what_no_browser_would_show_is_refused_with_the_command_that_mends_it() {
        let folder = Scratch::new("refused");
        let refused = |name: &str, more: &[&str], words: &str| {
            let path = folder.path(name);
            ffmpeg(&[&TEN[..], more, &[&path]].concat());
            let error = EncodedSource::open(&path, FOREVER).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(
                error.contains(words) && error.contains(&format!("ffmpeg -i {path} -c:v libx264")),
                "{name}: {error}"
            );
        };
        for container in ["mp4", "h264"] {
            let named = |name: &str| format!("{name}.{container}");
            refused(&named("b-frames"), &["-pix_fmt", "yuv420p", "-bf", "2", "-g", "10"], "(B-frames)");
            refused(&named("ten"), &["-pix_fmt", "yuv420p10le"], "more than 8 bits");
            refused(&named("422"), &["-pix_fmt", "yuv422p"], "of 4:2:2");
            refused(&named("444"), &["-pix_fmt", "yuv444p"], "of 4:4:4");
            refused(&named("interlaced"), &["-pix_fmt", "yuv420p", "-flags", "+ilme+ildct"], "is interlaced");
        }
        let hevc = ["-pix_fmt", "yuv420p", "-c:v", "libx265", "-x265-params", "log-level=none"];
        refused("stream.h265", &hevc, "of the codec hevc");
    }

    #[test]
    fn b_frames_that_no_parameter_set_announces_are_found_in_the_slices() {
        // First macroblock 0, and slices of types 6, 5 and 1.
        for (slice, is_b) in [([0x41, 0b1001_1100], true), ([0x41, 0b1001_1000], false), ([0x01, 0b1010_0000], true)] {
            assert_eq!(is_b_slice(&slice), is_b, "{slice:x?}");
        }
        assert!(!is_b_slice(&[0x65, 0b1010_0000]));
    }

    #[test]
    fn a_source_without_a_frame_that_can_be_sent_is_an_error() {
        let folder = Scratch::new("nothing");
        let problem = |name: &str, bytes: &[u8]| {
            let path = folder.path(name);
            std::fs::write(&path, bytes).unwrap();
            EncodedSource::open(&path, FOREVER).unwrap().next_frame().unwrap_err().to_string()
        };
        assert!(problem("empty.ivf", &file(b"VP80", &[])).contains("there is no frame in it"));
        let whole = folder.path("whole.h264");
        ffmpeg(&[&TEN[..], &["-g", "20", "-pix_fmt", "yuv420p", &whole]].concat());
        let bytes = std::fs::read(&whole).unwrap();
        let is_later = |unit: &&[u8]| UnitKind::of(unit[0]) == UnitKind::Slice;
        let later: Vec<u8> =
            h264::units(&bytes).filter(is_later).flat_map(|unit| [&[0, 0, 0, 1], unit].concat()).collect();
        let problem = problem("no-keyframe.h264", &later);
        assert!(problem.contains("none of its 9 frames is a key frame"), "{problem}");
    }
}
