//! A short clip made endless without a cut.

use std::sync::Arc;

use super::{Format, Source, SourceError};
use crate::picture::Picture;

/// What a clip may take in memory.
const LIMIT_MB: usize = 3_000;

/// Plays a source to its end, then backwards to its start, and so on: 0, 1, ..., n-1, n-2, ..., 1, 0, 1, ... Pictures are read
/// as they are needed and kept for the way back; a source too long to keep plays once, and it is an error only if it ends.
pub struct ForthAndBack {
    source: Box<dyn Source>,
    what: String,
    pictures: Vec<Arc<Picture>>,
    kept_all: bool,
    ended: bool,
    next: usize,
}

impl ForthAndBack {
    /// Endless pictures of `source`; `what` names it in errors.
    pub fn new(source: Box<dyn Source>, what: impl Into<String>) -> ForthAndBack {
        ForthAndBack { source, what: what.into(), pictures: Vec::new(), kept_all: true, ended: false, next: 0 }
    }
}

/// Which of `count` pictures is the `index`-th of the endless play.
fn place(index: usize, count: usize) -> usize {
    if count < 2 {
        return 0;
    }
    let phase = index % (2 * count - 2);
    if phase < count { phase } else { 2 * count - 2 - phase }
}

impl Source for ForthAndBack {
    fn format(&self) -> Format {
        self.source.format()
    }

    fn next_picture(&mut self) -> Result<Option<Arc<Picture>>, SourceError> {
        let index = self.next;
        self.next += 1;
        if !self.ended {
            if let Some(picture) = self.source.next_picture()? {
                let bytes = (self.pictures.len() + 1) * picture.data().len();
                if bytes > LIMIT_MB * 1_000_000 {
                    self.kept_all = false;
                    self.pictures.clear();
                }
                if self.kept_all {
                    self.pictures.push(picture.clone());
                }
                return Ok(Some(picture));
            }
            self.ended = true;
            if !self.kept_all {
                let (what, size) = (self.what.clone(), self.source.format().size);
                return Err(SourceError::TooLong { what, pictures: index, size, limit_mb: LIMIT_MB });
            }
        }
        Ok(self.pictures.get(place(index, self.pictures.len())).cloned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_pictures_go_forth_and_back_without_repeating_the_ends() {
        let order: Vec<usize> = (0..14).map(|index| place(index, 4)).collect();
        assert_eq!(order, [0, 1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1]);
        assert_eq!(place(7, 1), 0);
    }
}
