//! The pictures of a [`Video`], by number or in order.

use std::fs::File;
use std::sync::Arc;

use thalweg_units::{Seed, Span};

use crate::ffmpeg::is_address;
use crate::picture::Picture;
use crate::source::{
    Decoded, Decoding, Endless, Format, OnDisk, Recent, Replay, Resized, Retimed, Scene, SceneConfig, Source,
    SourceError, Y4mReader, time_of_picture,
};
use crate::video::Video;

/// Number of pictures kept at most: a picture is needed when it is read and encoded, and again when it is shown. This is
/// a little more than one second; after an outage pictures are made or read again.
const KEPT: usize = 40;
/// Bytes of the pictures kept at most, unless [`LEAST_KEPT`] have more: 23 of 1280x720, 10 of 1920x1080.
const KEPT_BYTES: usize = 32_000_000;
/// Pictures kept at least, however large they are.
const LEAST_KEPT: usize = 4;

/// Pictures with access by number, as often as needed, in constant memory.
pub struct Footage {
    pictures: Recent<Box<dyn Replay>>,
    format: Format,
}

impl Footage {
    /// Opens the source that `video` names.
    ///
    /// # Errors
    /// When it cannot be read, with what to do about it.
    pub fn open(video: &Video, seed: Seed) -> Result<Footage, SourceError> {
        let clip: Box<dyn Replay> = match Clip::open(video, seed)? {
            Clip::Endless(scene) => scene,
            Clip::Replayed(clip) if video.there_and_back => Box::new(Endless::there_and_back(clip)),
            Clip::Decoded(clip) if video.there_and_back => Box::new(Endless::there_and_back(OnDisk::new(clip)?)),
            Clip::Replayed(clip) => Box::new(Endless::new(clip)),
            Clip::Decoded(clip) => Box::new(Endless::new(clip)),
            Clip::Streamed(clip) => Box::new(Endless::new(OnDisk::new(clip)?)),
        };
        let own = clip.format();
        let size = video.size.unwrap_or(own.size);
        let clip: Box<dyn Replay> = if size == own.size { clip } else { Box::new(Resized::new(clip, size)) };
        let rate = video.scene_format().frame_rate;
        let retime = video.retimed && own.frame_rate != rate;
        let clip: Box<dyn Replay> = if retime { Box::new(Retimed::new(clip, rate)?) } else { clip };
        let format = clip.format();
        let kept = (KEPT_BYTES / Picture::bytes(size).max(1)).clamp(LEAST_KEPT, KEPT);
        Ok(Footage { pictures: Recent::new(clip, kept), format })
    }

    /// Size and rate of the pictures of `video`, for an encoder that looks at none of them: a file's own.
    ///
    /// # Errors
    /// When a file cannot be read, with what to do about it.
    pub fn format_of(video: &Video) -> Result<Format, SourceError> {
        let is_scene = SceneConfig::is_named_by(&video.source);
        if is_scene {
            Ok(video.scene_format())
        } else {
            Footage::open(video, Seed::new(1)).map(|footage| footage.format)
        }
    }

    /// Size and rate, after scaling.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The length of the file, if it turned out shorter than what was asked for: it is then played again and again.
    pub fn turns_after(&self) -> Option<Span> {
        self.pictures.turns_after()
    }

    /// Picture `number`; `None` after the end.
    ///
    /// # Errors
    /// When the source fails.
    pub fn picture(&mut self, number: u64) -> Result<Option<Arc<Picture>>, SourceError> {
        self.pictures.picture_at(number)
    }
}

/// The pictures of `video` once, in order; the built-in scene is endless.
///
/// # Errors
/// When it cannot be read, with what to do about it.
pub fn once(video: &Video, seed: Seed) -> Result<Box<dyn Source>, SourceError> {
    let clip: Box<dyn Source> = match Clip::open(video, seed)? {
        Clip::Endless(clip) | Clip::Replayed(clip) => clip,
        Clip::Decoded(clip) => Box::new(clip),
        Clip::Streamed(clip) => clip,
    };
    let size = video.size.unwrap_or(clip.format().size);
    Ok(if size == clip.format().size { clip } else { Box::new(Resized::new(clip, size)) })
}

/// A file, before it is played.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct About {
    /// Its duration; `None` of the scene, of live streams, and of files that do not say it.
    pub duration: Option<Span>,
    /// Changes that are made to its pictures, a sentence each.
    pub notes: Vec<String>,
}

/// Describes the file that `video` names without decoding it.
///
/// # Errors
/// When it cannot be read, with what to do about it.
pub fn about(video: &Video) -> Result<About, SourceError> {
    let name = video.source.as_str();
    if name == "-" || SceneConfig::is_named_by(name) {
        return Ok(About::default());
    }
    let y4m = is_y4m(name).then(|| open_y4m(name));
    if let Some(Ok(y4m)) = &y4m {
        let Format { size, frame_rate } = y4m.format();
        let bytes = std::fs::metadata(name).map_err(|error| SourceError::io(name, error))?.len();
        // A picture has a header of `FRAME` and a line end.
        let pictures = bytes / (Picture::bytes(size) as u64 + 6);
        return Ok(About { duration: Some(time_of_picture(frame_rate, pictures)), notes: Vec::new() });
    }
    // Where ffmpeg cannot read it either, the first error says why.
    let decoding = Decoding::of(name, video.size).map_err(|error| y4m.and_then(Result::err).unwrap_or(error))?;
    Ok(About { duration: decoding.duration(), notes: decoding.notes().to_vec() })
}

/// How the pictures of a video can be accessed.
enum Clip {
    /// Endless, with access by number.
    Endless(Box<dyn Replay>),
    /// Finite, with access by number.
    Replayed(Box<dyn Replay>),
    /// Finite, with access by number by decoding it again, scaled already.
    Decoded(Decoded),
    /// Sequential only.
    Streamed(Box<dyn Source>),
}

impl Clip {
    fn open(video: &Video, seed: Seed) -> Result<Clip, SourceError> {
        if let Some(scene) = SceneConfig::named(&video.source, video.scene_format(), seed.child("video"))? {
            return Ok(Clip::Endless(Box::new(Scene::new(scene))));
        }
        let name = video.source.as_str();
        if name == "-" {
            return Ok(Clip::Streamed(Box::new(Y4mReader::new(std::io::stdin(), "standard input")?)));
        }
        if !is_y4m(name) {
            return Ok(Clip::Decoded(Decoded::open(name, video.size)?));
        }
        match open_y4m(name) {
            Ok(y4m) => Ok(Clip::Replayed(Box::new(y4m))),
            // ffmpeg converts other forms, such as those of ten bits.
            Err(error @ SourceError::Format { .. }) => {
                Decoded::open(name, video.size).map(Clip::Decoded).map_err(|_| error)
            }
            Err(error) => Err(error),
        }
    }
}

fn is_y4m(name: &str) -> bool {
    !is_address(name) && name.to_ascii_lowercase().ends_with(".y4m")
}

fn open_y4m(name: &str) -> Result<Y4mReader<File>, SourceError> {
    Y4mReader::new(File::open(name).map_err(|error| SourceError::io(name, error))?, name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use thalweg_units::{Size, Span};

    #[test]
    fn an_encoder_without_pixels_has_a_files_size_and_rate() {
        let path = std::env::temp_dir().join(format!("thalweg-format-{}.y4m", std::process::id()));
        std::fs::write(&path, b"YUV4MPEG2 W32 H16 F30000:1001 Ip A1:1 C420\n").unwrap();
        let file = Video { source: path.display().to_string(), size: None, ..Video::scene(Size::HD, 30) };
        let format = Footage::format_of(&file).unwrap();
        assert_eq!(format, Format { size: Size::new(32, 16), frame_rate: (30_000, 1001) });
        // Two thousand hours without drift.
        assert_eq!(format.time_of(2 * 3600 * 30_000), Span::from_secs(2 * 3600 * 1001));
        std::fs::remove_file(&path).unwrap();
        assert!(Footage::format_of(&file).is_err());
        assert_eq!(Footage::format_of(&Video::scene(Size::HD, 25)).unwrap().frame_rate, (25, 1));
    }

    #[test]
    fn a_file_is_shown_at_another_rate_only_if_it_is_to_be() {
        let path = std::env::temp_dir().join(format!("thalweg-retimed-{}.y4m", std::process::id()));
        let mut clip = b"YUV4MPEG2 W16 H16 F30:1 Ip A1:1 C420\n".to_vec();
        for luma in [40u8, 80, 120] {
            clip.extend_from_slice(b"FRAME\n");
            clip.extend(std::iter::repeat_n(luma, 256).chain(std::iter::repeat_n(128, 128)));
        }
        std::fs::write(&path, clip).unwrap();
        let video =
            |retimed| Video { retimed, source: path.display().to_string(), ..Video::scene(Size::new(16, 16), 60) };
        let lumas = |retimed| -> (u32, Vec<u8>) {
            let mut footage = Footage::open(&video(retimed), Seed::new(1)).unwrap();
            let numbers = 0..6;
            let lumas = numbers.map(|number| footage.picture(number).unwrap().unwrap().data()[0]).collect();
            (footage.format().frame_rate.0, lumas)
        };
        assert_eq!(lumas(false), (30, vec![40, 80, 120, 40, 80, 120]));
        assert_eq!(about(&video(false)).unwrap().duration, Some(Span::from_millis(100)));
        assert_eq!(lumas(true), (60, vec![40, 40, 80, 80, 120, 120]));
        std::fs::remove_file(&path).unwrap();
    }

    /// A file of testsrc2, in H.264 with B-frames where its format is of that, at 10 pictures a second: `seconds` of 96x64,
    /// with a tone where its format has audio.
    fn coded(name: &str, seconds: u32, more: &[&str]) -> String {
        let path = std::env::temp_dir().join(format!("thalweg-{}-{name}", std::process::id())).display().to_string();
        let input = format!("testsrc2=size=96x64:rate=10:duration={seconds}[out0];sine=duration={seconds}[out1]");
        let arguments =
            [&["-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", &input, "-pix_fmt", "yuv420p"], more, &[&path]];
        let made = std::process::Command::new("ffmpeg").args(arguments.concat()).status();
        assert!(made.expect("ffmpeg starts").success(), "{arguments:?}");
        path
    }

    #[test]
    fn a_picture_is_shown_from_its_own_time_on_where_the_header_counts_some_that_are_not_there() {
        let path = coded("gaps.mkv", 4, &["-vf", "select='not(mod(n,4))'", "-vsync", "vfr"]);
        let mut footage = Footage::open(&Video::of(path.as_str(), None), Seed::new(1)).unwrap();
        assert_eq!(footage.format().frame_rate, (10, 1));
        let shown: Vec<_> = (0..13).map(|number| footage.picture(number).unwrap().unwrap()).collect();
        let begins = (1..13).filter(|number| shown[*number].data() != shown[number - 1].data()).collect::<Vec<_>>();
        assert_eq!(begins, [4, 8, 12]);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_file_plays_many_times_its_length_and_no_more_pictures_are_in_memory_than_are_kept() {
        let path = coded("rounds.mp4", 6, &[]);
        let mut all = Decoding::of(&path, None).unwrap().open().unwrap();
        let all: Vec<_> = std::iter::from_fn(|| all.next_picture().unwrap()).collect();
        assert_eq!(all.len(), 60);
        let mut footage = Footage::open(&Video::of(path.as_str(), None), Seed::new(1)).unwrap();
        let mut seen = Vec::new();
        // What is shown lies behind by more than is kept, and now and then by more than a round.
        for number in 0..600u64 {
            for picture in [number, number.saturating_sub(50), number - number % 100] {
                let found = footage.picture(picture).unwrap().unwrap();
                assert!(found == all[picture as usize % 60], "{picture} beside {number}");
                seen.push(Arc::downgrade(&found));
            }
            seen.retain(|picture| picture.strong_count() > 0);
            let in_memory: BTreeSet<_> = seen.iter().map(|picture| picture.as_ptr().cast::<u8>()).collect();
            assert!(in_memory.len() <= KEPT, "{} pictures", in_memory.len());
        }
        assert_eq!(footage.turns_after(), Some(Span::from_secs(6)));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_file_is_described_before_it_is_played_and_scaled_by_ffmpeg() {
        let path = coded("short.mkv", 2, &[]);
        let video = Video::of(path.as_str(), Some(Size::new(48, 32)));
        let found = about(&video).unwrap();
        assert_eq!((found.duration.unwrap().as_secs_f64().round(), found.notes.len()), (2.0, 0));
        let mut footage = Footage::open(&video, Seed::new(1)).unwrap();
        assert_eq!(footage.picture(7).unwrap().unwrap().size(), Size::new(48, 32));
        // There and back: the picture before the last follows the last.
        let turning = Video { there_and_back: true, ..Video::of(path.as_str(), None) };
        let mut footage = Footage::open(&turning, Seed::new(1)).unwrap();
        let [before, after, again] = [18, 20, 38].map(|number| footage.picture(number).unwrap().unwrap());
        assert!(before == after && again == footage.picture(0).unwrap().unwrap());
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn ten_bits_become_eight_and_hdr_becomes_sdr_and_irregular_times_a_constant_rate_with_a_word() {
        let ten = coded("ten.y4m", 1, &["-pix_fmt", "yuv420p10le", "-strict", "-1"]);
        let mut footage = Footage::open(&Video::of(ten.as_str(), None), Seed::new(1)).unwrap();
        assert_eq!(footage.picture(9).unwrap().unwrap().size(), Size::new(96, 64));
        let tags = "colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc";
        let more = ["-pix_fmt", "yuv420p10le", "-c:v", "libx264", "-x264-params", tags];
        let hdr = coded("hdr.mp4", 1, &more);
        let notes = about(&Video::of(hdr.as_str(), None)).unwrap().notes;
        assert!(matches!(&notes[..], [note] if note.contains("HDR (PQ)")), "{notes:?}");
        assert!(Footage::open(&Video::of(hdr.as_str(), None), Seed::new(1)).unwrap().picture(3).unwrap().is_some());
        // Every picture of the first half and each fifth of the second.
        let irregular = coded("irregular.mp4", 10, &["-vf", "select='lt(t,5)+not(mod(n,5))'", "-vsync", "vfr"]);
        let found = about(&Video::of(irregular.as_str(), None)).unwrap();
        assert!(matches!(&found.notes[..], [note] if note.contains("converted to 10 fps")), "{found:?}");
        let mut footage = Footage::open(&Video::of(irregular.as_str(), None), Seed::new(1)).unwrap();
        let [held, still, next] = [60, 64, 65].map(|number| footage.picture(number).unwrap().unwrap());
        assert!(held == still && still != next);
        for path in [ten, hdr, irregular] {
            std::fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn what_has_no_video_says_so() {
        let silent = coded("tone.wav", 1, &[]);
        let problem = |name: &str| Footage::open(&Video::of(name, None), Seed::new(1)).err().unwrap().to_string();
        assert!(problem(&silent).ends_with("it has no video, only audio"), "{}", problem(&silent));
        assert!(problem("/").ends_with("it is a folder: name a file in it"), "{}", problem("/"));
        std::fs::remove_file(silent).unwrap();
    }
}
