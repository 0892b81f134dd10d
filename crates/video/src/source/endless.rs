//! Makes a clip endless.

use std::sync::Arc;

use thalweg_units::Span;

use super::{Format, Replay, Source, SourceError};
use crate::picture::Picture;

/// Plays a clip again and again. The clip's picture for the `n`-th output is calculated, so any can be accessed by number.
pub struct Endless<R> {
    clip: R,
    there_and_back: bool,
    /// Pictures of the clip read so far: all of them when it has `ended`.
    count: u64,
    ended: bool,
    next: u64,
}

impl<R: Replay> Endless<R> {
    /// Begins again after the last picture: 0, 1, ..., n-1, 0, 1, ...
    pub fn new(clip: R) -> Endless<R> {
        Endless { clip, there_and_back: false, count: 0, ended: false, next: 0 }
    }

    /// Plays it forwards and backwards by turns, so that there is no cut: 0, 1, ..., n-1, n-2, ..., 1, 0, 1, ...
    pub fn there_and_back(clip: R) -> Endless<R> {
        Endless { there_and_back: true, ..Endless::new(clip) }
    }
}

/// The index among `count` pictures, played there and back, of the `index`-th picture of the endless sequence.
fn place(index: u64, count: u64) -> u64 {
    if count < 2 {
        return 0;
    }
    let phase = index % (2 * count - 2);
    if phase < count { phase } else { 2 * count - 2 - phase }
}

impl<R: Replay> Source for Endless<R> {
    fn format(&self) -> Format {
        self.clip.format()
    }

    fn next_picture(&mut self) -> Result<Option<Arc<Picture>>, SourceError> {
        let picture = self.picture_at(self.next)?;
        self.next += u64::from(picture.is_some());
        Ok(picture)
    }
}

impl<R: Replay> Replay for Endless<R> {
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
        let place = match (self.ended, self.there_and_back) {
            (false, _) => number,
            (true, false) => number % self.count,
            (true, true) => place(number, self.count),
        };
        self.clip.picture_at(place)
    }

    fn turns_after(&self) -> Option<Span> {
        self.ended.then(|| self.format().time_of(self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::OnDisk;
    use crate::source::tests::counting;
    use thalweg_units::Size;

    #[test]
    fn four_pictures_go_there_and_back_without_repeating_the_ends() {
        let order: Vec<u64> = (0..14).map(|index| place(index, 4)).collect();
        assert_eq!(order, [0, 1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1]);
        assert_eq!(place(7, 1), 0);
    }

    #[test]
    fn any_picture_of_the_endless_play_can_be_had_before_and_after_the_clip_has_ended() {
        for (there_and_back, numbers, expected) in [
            (false, [1, 0, 9, 2, 4, 1_000_001], [1, 0, 1, 2, 0, 1]),
            (true, [1, 0, 9, 2, 4, 1_000_001], [1, 0, 3, 2, 2, 1]),
        ] {
            let clip = OnDisk::new(counting(4, (30, 1))).unwrap();
            let mut clip = Endless { there_and_back, ..Endless::new(clip) };
            let mut luma = |number| clip.picture_at(number).unwrap().unwrap().data()[0];
            assert_eq!([1, 0].map(&mut luma), [1, 0]);
            assert_eq!(clip.turns_after(), None);
            let mut luma = |number| clip.picture_at(number).unwrap().unwrap().data()[0];
            assert_eq!(numbers.map(&mut luma), expected);
            assert_eq!(clip.turns_after(), Some(Format { size: Size::new(16, 16), frame_rate: (30, 1) }.time_of(4)));
            let stream: Vec<u8> = (0..6).map(|_| clip.next_picture().unwrap().unwrap().data()[0]).collect();
            assert_eq!(stream, if there_and_back { [0, 1, 2, 3, 2, 1] } else { [0, 1, 2, 3, 0, 1] });
        }
    }

    #[test]
    fn no_pictures_are_no_endless_pictures() {
        let clip = OnDisk::new(counting(0, (30, 1))).unwrap();
        assert!(Endless::new(clip).next_picture().unwrap().is_none());
    }
}
