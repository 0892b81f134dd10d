//! A source at another rate or another size.

use std::sync::Arc;

use thalweg_units::Size;

use super::{Format, Source, SourceError};
use crate::picture::Picture;
use crate::scale;

/// A source at another frame rate, by leaving pictures out or showing them again. The n-th picture is the one the source shows
/// at that instant: number ⌊n · source rate / wanted rate⌋, in exact integers, so 30000/1001 never drifts.
pub struct Retimed {
    source: Box<dyn Source>,
    frame_rate: (u32, u32),
    next: u64,
    read: u64,
    shown: Option<Arc<Picture>>,
}

impl Retimed {
    /// `source` at `frame_rate.0` pictures in `frame_rate.1` seconds.
    ///
    /// # Errors
    /// When either rate has a zero in it.
    pub fn new(source: Box<dyn Source>, frame_rate: (u32, u32)) -> Result<Retimed, SourceError> {
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

    /// The source's number of the `index`-th picture shown.
    fn place(&self, index: u64) -> u64 {
        let (pictures, seconds) = self.source.format().frame_rate;
        let above = u128::from(index) * u128::from(pictures) * u128::from(self.frame_rate.1);
        (above / (u128::from(seconds) * u128::from(self.frame_rate.0))) as u64
    }
}

impl Source for Retimed {
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

/// A source at another size, by [`scale`].
pub struct Resized {
    source: Box<dyn Source>,
    size: Size,
}

impl Resized {
    /// `source` with every picture scaled to `size`.
    pub fn new(source: Box<dyn Source>, size: Size) -> Resized {
        Resized { source, size }
    }
}

impl Source for Resized {
    fn format(&self) -> Format {
        Format { size: self.size, ..self.source.format() }
    }

    fn next_picture(&mut self) -> Result<Option<Arc<Picture>>, SourceError> {
        let Some(picture) = self.source.next_picture()? else { return Ok(None) };
        Ok(Some(if picture.size() == self.size { picture } else { Arc::new(scale(&picture, self.size)) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plane;

    /// Pictures whose luma is their number.
    struct Counting(u8, u8, Format);

    impl Source for Counting {
        fn format(&self) -> Format {
            self.2
        }

        fn next_picture(&mut self) -> Result<Option<Arc<Picture>>, SourceError> {
            let number = self.0;
            self.0 += 1;
            Ok((number < self.1).then(|| Arc::new(Picture::filled(self.2.size, number, 128, 128))))
        }
    }

    fn counting(count: u8, frame_rate: (u32, u32)) -> Box<Counting> {
        Box::new(Counting(0, count, Format { size: Size::new(16, 16), frame_rate }))
    }

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
}
