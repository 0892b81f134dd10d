//! Makes a short clip endless without a cut.

use std::sync::Arc;

use thalweg_units::Span;

use super::{Format, InMemory, Replay, Source, SourceError};
use crate::picture::Picture;

/// Plays a clip to its end, then backwards to its start, and so on: 0, 1, ..., n-1, n-2, ..., 1, 0, 1, ... The clip's
/// picture for the `n`-th output is calculated, so any can be accessed by number.
pub struct ForthAndBack<R = InMemory<Box<dyn Source>>> {
    clip: R,
    /// Pictures of the clip read so far: all of them when it has `ended`.
    count: u64,
    ended: bool,
    next: u64,
}

impl ForthAndBack {
    /// Endless pictures of a stream, which are kept in memory; `what` names it in errors. A stream too long to keep is
    /// played once, and fails only if it ends.
    pub fn new(source: Box<dyn Source>, what: impl Into<String>) -> ForthAndBack {
        ForthAndBack::of(InMemory::new(source, what))
    }
}

impl<R: Replay> ForthAndBack<R> {
    /// Endless pictures of a clip with access by number.
    pub fn of(clip: R) -> ForthAndBack<R> {
        ForthAndBack { clip, count: 0, ended: false, next: 0 }
    }
}

/// The index among `count` pictures of the `index`-th picture of the endless sequence.
fn place(index: u64, count: u64) -> u64 {
    if count < 2 {
        return 0;
    }
    let phase = index % (2 * count - 2);
    if phase < count { phase } else { 2 * count - 2 - phase }
}

impl<R: Replay> Source for ForthAndBack<R> {
    fn format(&self) -> Format {
        self.clip.format()
    }

    fn next_picture(&mut self) -> Result<Option<Arc<Picture>>, SourceError> {
        let picture = self.picture_at(self.next)?;
        self.next += u64::from(picture.is_some());
        Ok(picture)
    }
}

impl<R: Replay> Replay for ForthAndBack<R> {
    fn picture_at(&mut self, number: u64) -> Result<Option<Arc<Picture>>, SourceError> {
        // The clip's length is known only when it has ended.
        while !self.ended && self.count <= number {
            match self.clip.picture_at(self.count)? {
                Some(picture) => {
                    self.count += 1;
                    if self.count == number + 1 {
                        return Ok(Some(picture));
                    }
                }
                None => self.ended = true,
            }
        }
        if self.count == 0 {
            return Ok(None);
        }
        let place = if self.ended { place(number, self.count) } else { number };
        self.clip.picture_at(place)
    }

    fn turns_after(&self) -> Option<Span> {
        self.ended.then(|| self.format().time_of(self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tests::counting;
    use thalweg_units::Size;

    #[test]
    fn four_pictures_go_forth_and_back_without_repeating_the_ends() {
        let order: Vec<u64> = (0..14).map(|index| place(index, 4)).collect();
        assert_eq!(order, [0, 1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1]);
        assert_eq!(place(7, 1), 0);
    }

    #[test]
    fn any_picture_of_the_endless_play_can_be_had_before_and_after_the_clip_has_ended() {
        let mut clip = ForthAndBack::new(counting(4, (30, 1)), "test");
        let mut luma = |number| clip.picture_at(number).unwrap().unwrap().data()[0];
        assert_eq!([1, 0].map(&mut luma), [1, 0]);
        assert_eq!(clip.turns_after(), None);
        let mut luma = |number| clip.picture_at(number).unwrap().unwrap().data()[0];
        assert_eq!([1, 0, 9, 2, 4, 1_000_001].map(&mut luma), [1, 0, 3, 2, 2, 1]);
        assert_eq!(clip.turns_after(), Some(Format { size: Size::new(16, 16), frame_rate: (30, 1) }.time_of(4)));
        let stream: Vec<u8> = (0..8).map(|_| clip.next_picture().unwrap().unwrap().data()[0]).collect();
        assert_eq!(stream, [0, 1, 2, 3, 2, 1, 0, 1]);
    }

    #[test]
    fn a_clip_too_long_to_keep_plays_once_and_its_end_is_an_error() {
        let source: Box<dyn Source> = counting(2, (30, 1));
        let mut clip = ForthAndBack::of(InMemory::with_limit(source, "clip", 0));
        assert!(clip.next_picture().unwrap().is_some() && clip.next_picture().unwrap().is_some());
        assert!(matches!(clip.next_picture(), Err(SourceError::TooLong { pictures: 2, .. })));
    }

    #[test]
    fn no_pictures_are_no_endless_pictures() {
        assert!(ForthAndBack::new(counting(0, (30, 1)), "test").next_picture().unwrap().is_none());
    }
}
