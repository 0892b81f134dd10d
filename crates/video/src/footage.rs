//! The pictures of a [`Video`], by number or in order.

use std::fs::File;
use std::sync::Arc;

use thalweg_units::{Seed, Span};

use crate::picture::Picture;
use crate::source::{
    Ffmpeg, Format, ForthAndBack, Recent, Replay, Resized, Retimed, Scene, SceneConfig, Source, SourceError, Y4mReader,
};
use crate::video::Video;

/// Number of pictures kept: a picture is needed when it is read and encoded, and again when it is shown. This is a
/// little more than one second; after an outage pictures are made or read again.
const KEPT: usize = 40;

/// Pictures with access by number, as often as needed.
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
            Clip::Replayed(clip) => Box::new(ForthAndBack::of(clip)),
            Clip::Streamed(clip) => Box::new(ForthAndBack::new(clip, video.source.as_str())),
        };
        let own = clip.format();
        let size = video.size.unwrap_or(own.size);
        let clip: Box<dyn Replay> = if size == own.size { clip } else { Box::new(Resized::new(clip, size)) };
        let rate = video.scene_format().frame_rate;
        let retime = video.retimed && own.frame_rate != rate;
        let clip: Box<dyn Replay> = if retime { Box::new(Retimed::new(clip, rate)?) } else { clip };
        let format = clip.format();
        Ok(Footage { pictures: Recent::new(clip, KEPT), format })
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

    /// The length of the file, if it turned out shorter than what was asked for: it is then played forth and back.
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
        Clip::Streamed(clip) => clip,
    };
    let size = video.size.unwrap_or(clip.format().size);
    Ok(if size == clip.format().size { clip } else { Box::new(Resized::new(clip, size)) })
}

/// How the pictures of a video can be accessed.
enum Clip {
    /// Endless, with access by number.
    Endless(Box<dyn Replay>),
    /// Finite, with access by number.
    Replayed(Box<dyn Replay>),
    /// Sequential only.
    Streamed(Box<dyn Source>),
}

impl Clip {
    fn open(video: &Video, seed: Seed) -> Result<Clip, SourceError> {
        if let Some(scene) = SceneConfig::named(&video.source, video.scene_format(), seed.child("video"))? {
            return Ok(Clip::Endless(Box::new(Scene::new(scene))));
        }
        Ok(match video.source.as_str() {
            "-" => Clip::Streamed(Box::new(Y4mReader::new(std::io::stdin(), "standard input")?)),
            name if name.to_ascii_lowercase().ends_with(".y4m") => {
                let file = File::open(name).map_err(|error| SourceError::io(name, error))?;
                Clip::Replayed(Box::new(Y4mReader::new(file, name)?))
            }
            name => {
                // ffmpeg's own error for a missing file is hidden in its output; this one is clear.
                File::open(name).map_err(|error| SourceError::io(name, error))?;
                Clip::Streamed(Box::new(Ffmpeg::open(name)?))
            }
        })
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(lumas(false), (30, vec![40, 80, 120, 80, 40, 80]));
        assert_eq!(lumas(true), (60, vec![40, 40, 80, 80, 120, 120]));
        std::fs::remove_file(&path).unwrap();
    }
}
