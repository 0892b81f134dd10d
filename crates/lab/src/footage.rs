//! The pictures of a run, by number.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;

use thalweg_units::{Seed, Size};
use thalweg_video::source::{Ffmpeg, Format, ForthAndBack, Scene, SceneConfig, Source, SourceError, Y4mReader};
use thalweg_video::{Picture, scale};

use crate::scenario::Video;

/// A source whose pictures can be had again until they are let go.
pub struct Footage {
    source: Box<dyn Source>,
    format: Format,
    size: Size,
    next: u64,
    kept: BTreeMap<u64, Arc<Picture>>,
}

impl Footage {
    /// Opens what `video` names.
    ///
    /// # Errors
    /// When it cannot be read, with what to do about it.
    pub fn open(video: &Video, seed: Seed) -> Result<Footage, SourceError> {
        let source: Box<dyn Source> = match video.source.as_str() {
            "scene" => {
                let size = video.size.unwrap_or(Size::HD);
                let format = Format { size, frame_rate: (video.frame_rate.clamp(1, 240), 1) };
                Box::new(Scene::new(SceneConfig { format, seed: seed.child("video"), ..SceneConfig::default() }))
            }
            "-" => endless(Y4mReader::new(std::io::stdin(), "standard input")?, "standard input"),
            name if name.to_ascii_lowercase().ends_with(".y4m") => {
                let file = File::open(name).map_err(|error| SourceError::Io { what: name.into(), error })?;
                endless(Y4mReader::new(file, name)?, name)
            }
            name => {
                // ffmpeg's own error for a missing file is buried in its output; say it plainly.
                File::open(name).map_err(|error| SourceError::Io { what: name.into(), error })?;
                endless(Ffmpeg::open(name)?, name)
            }
        };
        let format = source.format();
        let size = video.size.unwrap_or(format.size);
        Ok(Footage { source, format: Format { size, ..format }, size, next: 0, kept: BTreeMap::new() })
    }

    /// Size and rate, after scaling.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Picture `number`; numbers are asked for first in order. `None` after the end.
    ///
    /// # Errors
    /// When the source fails.
    pub fn picture(&mut self, number: u64) -> Result<Option<Arc<Picture>>, SourceError> {
        while self.next <= number {
            let Some(picture) = self.source.next_picture()? else { return Ok(None) };
            let picture = if picture.size() == self.size { picture } else { Arc::new(scale(&picture, self.size)) };
            self.kept.insert(self.next, picture);
            self.next += 1;
        }
        Ok(self.kept.get(&number).cloned())
    }

    /// Lets a picture go.
    pub fn let_go(&mut self, number: u64) {
        self.kept.remove(&number);
    }
}

fn endless(source: impl Source + 'static, name: &str) -> Box<dyn Source> {
    Box::new(ForthAndBack::new(Box::new(source), name))
}
