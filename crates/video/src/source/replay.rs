//! Pictures with access by number.

use std::sync::Arc;

use thalweg_units::Span;

use super::{Format, Source, SourceError};
use crate::picture::Picture;

/// A source that gives access to any of its pictures by number, as often as needed, so that no caller needs to keep
/// them: a scene draws the picture again, a file is read at another position or decoded again. Pictures from a pipe are
/// gone once read, so it is only a [`Source`]; [`OnDisk`](super::OnDisk) makes it a replay, at the cost of a file.
///
/// ```
/// # use thalweg_video::source::{Endless, Recent, Replay, SourceError, Y4mReader};
/// # use std::fs::File;
/// fn endless(file: File, name: &str) -> Result<Box<dyn Replay>, SourceError> {
///     Ok(Box::new(Recent::new(Endless::new(Y4mReader::new(file, name)?), 32)))
/// }
/// ```
///
/// ```compile_fail,E0277
/// # use thalweg_video::source::{Replay, SourceError, Y4mReader};
/// # use std::io::Stdin;
/// fn endless(pipe: Stdin) -> Result<Box<dyn Replay>, SourceError> {
///     Ok(Box::new(Y4mReader::new(pipe, "standard input")?))
/// }
/// ```
pub trait Replay: Source {
    /// Picture `number`, counted from 0; `None` after the end. It is the one that the `number`-th call of
    /// [`Source::next_picture`] returns; the position of that stream does not change.
    ///
    /// # Errors
    /// When a picture is malformed, or cannot be read (again).
    fn picture_at(&mut self, number: u64) -> Result<Option<Arc<Picture>>, SourceError>;

    /// The length of a clip that turned out shorter than what was asked for, and is played again and again.
    fn turns_after(&self) -> Option<Span> {
        None
    }
}

impl<T: Replay + ?Sized> Replay for Box<T> {
    fn picture_at(&mut self, number: u64) -> Result<Option<Arc<Picture>>, SourceError> {
        (**self).picture_at(number)
    }

    fn turns_after(&self) -> Option<Span> {
        (**self).turns_after()
    }
}

/// A replay that caches recently used pictures: accessing one again soon is free, accessing one later costs as much as
/// in the inner replay, and memory does not grow.
pub struct Recent<R> {
    replay: R,
    /// Picture `n` at index `n` modulo the length, with its number.
    kept: Vec<Option<(u64, Arc<Picture>)>>,
    next: u64,
}

impl<R: Replay> Recent<R> {
    /// Caches about `pictures` pictures, at least one.
    pub fn new(replay: R, pictures: usize) -> Recent<R> {
        Recent { replay, kept: vec![None; pictures.max(1)], next: 0 }
    }
}

impl<R: Replay> Source for Recent<R> {
    fn format(&self) -> Format {
        self.replay.format()
    }

    fn next_picture(&mut self) -> Result<Option<Arc<Picture>>, SourceError> {
        let picture = self.picture_at(self.next)?;
        self.next += u64::from(picture.is_some());
        Ok(picture)
    }
}

impl<R: Replay> Replay for Recent<R> {
    fn picture_at(&mut self, number: u64) -> Result<Option<Arc<Picture>>, SourceError> {
        let place = (number % self.kept.len() as u64) as usize;
        if let Some((kept, picture)) = &self.kept[place]
            && *kept == number
        {
            return Ok(Some(picture.clone()));
        }
        let picture = self.replay.picture_at(number)?;
        if let Some(picture) = &picture {
            self.kept[place] = Some((number, picture.clone()));
        }
        Ok(picture)
    }

    fn turns_after(&self) -> Option<Span> {
        self.replay.turns_after()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Scene, SceneConfig};
    use thalweg_units::Size;

    fn scene() -> Scene {
        let format = Format { size: Size::new(64, 36), frame_rate: (30, 1) };
        Scene::new(SceneConfig { format, ..SceneConfig::default() })
    }

    #[test]
    fn a_recent_picture_is_the_same_allocation_and_an_old_one_the_same_picture() {
        let mut recent = Recent::new(scene(), 4);
        let first = recent.picture_at(0).unwrap().unwrap();
        for number in 1..4 {
            recent.picture_at(number).unwrap();
        }
        assert!(Arc::ptr_eq(&first, &recent.picture_at(0).unwrap().unwrap()));
        recent.picture_at(4).unwrap();
        let again = recent.picture_at(0).unwrap().unwrap();
        assert!(!Arc::ptr_eq(&first, &again));
        assert_eq!(first, again);
    }

    #[test]
    fn having_a_picture_by_number_does_not_move_the_stream() {
        let mut recent = Recent::new(Box::new(scene()) as Box<dyn Replay>, 2);
        let by_number: Vec<_> = (0..5).map(|number| recent.picture_at(number).unwrap().unwrap()).collect();
        for picture in by_number {
            recent.picture_at(77).unwrap();
            assert_eq!(recent.next_picture().unwrap().unwrap(), picture);
        }
    }
}
