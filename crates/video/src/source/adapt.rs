//! A source at another frame rate or another size.

use std::sync::Arc;

use thalweg_units::{Size, Span};

use super::{Format, Replay, Source, SourceError};
use crate::picture::Picture;
use crate::scale;

/// A source at another frame rate, by dropping or repeating pictures. The n-th picture is the one that the source shows
/// at that instant: number ⌊n · source rate / wanted rate⌋, in exact integers, so 30000/1001 never drifts.
pub struct Retimed<S = Box<dyn Source>> {
    source: S,
    frame_rate: (u32, u32),
    next: u64,
    read: u64,
    shown: Option<Arc<Picture>>,
}

impl<S: Source> Retimed<S> {
    /// `source` at `frame_rate.0` pictures per `frame_rate.1` seconds.
    ///
    /// # Errors
    /// When either rate contains a zero.
    pub fn new(source: S, frame_rate: (u32, u32)) -> Result<Retimed<S>, SourceError> {
        for (pictures, seconds) in [source.format().frame_rate, frame_rate] {
            if pictures == 0 || seconds == 0 {
                return Err(SourceError::Format {
                    what: "frame rate conversion".into(),
                    problem: format!("the rate {pictures}/{seconds} has a zero; both must be 1 or more, such as 30/1"),
                });
            }
        }
        Ok(Retimed { source, frame_rate, next: 0, read: 0, shown: None })
    }

    /// The source's number of the `index`-th output picture.
    fn place(&self, index: u64) -> u64 {
        let (pictures, seconds) = self.source.format().frame_rate;
        let above = u128::from(index) * u128::from(pictures) * u128::from(self.frame_rate.1);
        (above / (u128::from(seconds) * u128::from(self.frame_rate.0))) as u64
    }
}

impl<S: Source> Source for Retimed<S> {
    fn format(&self) -> Format {
        Format { size: self.source.format().size, frame_rate: self.frame_rate }
    }

    fn next_picture(&mut self) -> Result<Option<Arc<Picture>>, SourceError> {
        let place = self.place(self.next);
        while self.read <= place {
            self.shown = self.source.next_picture()?;
            if self.shown.is_none() {
                return Ok(None);
            }
            self.read += 1;
        }
        self.next += 1;
        Ok(self.shown.clone())
    }
}

impl<S: Replay> Replay for Retimed<S> {
    fn picture_at(&mut self, number: u64) -> Result<Option<Arc<Picture>>, SourceError> {
        self.source.picture_at(self.place(number))
    }

    fn turns_after(&self) -> Option<Span> {
        self.source.turns_after()
    }
}

/// A source at another size, by [`scale`].
pub struct Resized<S = Box<dyn Source>> {
    source: S,
    size: Size,
}

impl<S: Source> Resized<S> {
    /// `source` with every picture scaled to `size`.
    pub fn new(source: S, size: Size) -> Resized<S> {
        Resized { source, size }
    }
}

impl<S> Resized<S> {
    fn resize(&self, picture: Arc<Picture>) -> Arc<Picture> {
        if picture.size() == self.size { picture } else { Arc::new(scale(&picture, self.size)) }
    }
}

impl<S: Source> Source for Resized<S> {
    fn format(&self) -> Format {
        Format { size: self.size, ..self.source.format() }
    }

    fn next_picture(&mut self) -> Result<Option<Arc<Picture>>, SourceError> {
        Ok(self.source.next_picture()?.map(|picture| self.resize(picture)))
    }
}

impl<S: Replay> Replay for Resized<S> {
    fn picture_at(&mut self, number: u64) -> Result<Option<Arc<Picture>>, SourceError> {
        Ok(self.source.picture_at(number)?.map(|picture| self.resize(picture)))
    }

    fn turns_after(&self) -> Option<Span> {
        self.source.turns_after()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plane;
    use crate::source::OnDisk;
    use crate::source::tests::counting;

    fn numbers(from: (u32, u32), to: (u32, u32), count: u8) -> Vec<u8> {
        let mut source = Retimed::new(counting(count, from), to).unwrap();
        std::iter::from_fn(|| source.next_picture().unwrap()).map(|picture| picture.plane(Plane::Y)[0]).collect()
    }

    #[test]
    fn a_lower_rate_drops_and_a_higher_one_repeats() {
        assert_eq!(numbers((60, 1), (30, 1), 6), [0, 2, 4]);
        assert_eq!(
            numbers((24, 1), (30, 1), 5),
            [0, 0, 1, 2, 3, 4, 4],
            "the fifth lasts until 0.208 s, past the instant 0.2 s"
        );
        assert_eq!(numbers((30, 1), (30, 1), 3), [0, 1, 2]);
    }

    #[test]
    fn ntsc_at_thirty_repeats_one_picture_in_1001() {
        let source = Retimed::new(counting(1, (30_000, 1001)), (30, 1)).unwrap();
        assert_eq!(
            [0, 1, 2, 1000, 1001, 1002, 2002].map(|index| source.place(index)),
            [0, 0, 1, 999, 1000, 1000, 2000]
        );
    }

    #[test]
    fn a_rate_of_zero_is_an_error() {
        assert!(Retimed::new(counting(1, (30, 1)), (0, 1)).is_err());
    }

    #[test]
    fn a_resized_source_says_and_gives_its_new_size() {
        let size = Size::new(8, 8);
        let mut source = Resized::new(counting(1, (30, 1)), size);
        assert_eq!((source.format().size, source.format().frame_rate), (size, (30, 1)));
        assert_eq!(source.next_picture().unwrap().unwrap().size(), size);
        assert!(source.next_picture().unwrap().is_none());
    }

    #[test]
    fn a_replay_stays_one_at_another_rate_and_size() {
        let mut stream = Retimed::new(counting(5, (24, 1)), (30, 1)).unwrap();
        let clip = OnDisk::new(counting(5, (24, 1))).unwrap();
        let mut replay = Resized::new(Retimed::new(clip, (30, 1)).unwrap(), Size::new(8, 8));
        for number in [6, 0, 3, 7, 1] {
            let luma = replay.picture_at(number).unwrap().map(|picture| (picture.size(), picture.plane(Plane::Y)[0]));
            let wanted = [0, 0, 1, 2, 3, 4, 4].get(number as usize).map(|luma| (Size::new(8, 8), *luma));
            assert_eq!(luma, wanted, "{number}");
        }
        while let Some(picture) = stream.next_picture().unwrap() {
            assert_eq!(replay.next_picture().unwrap().unwrap(), Arc::new(scale(&picture, Size::new(8, 8))));
        }
    }
}
