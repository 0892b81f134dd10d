//! The size of a picture, as shown and as coded.

/// A picture's width and height in pixels, each 1 to 16383 (fourteen bits of a key frame's header).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Size {
    width: u16,
    height: u16,
}

/// A width or height that is invalid in VP8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a picture of {width}x{height} pixels cannot be VP8: take 1 to 16383 each way")]
pub struct SizeError {
    /// The requested width.
    pub width: usize,
    /// The requested height.
    pub height: usize,
}

/// One of the three planes of a picture. The chroma planes have half the width and height, rounded up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Plane {
    /// Brightness.
    Y,
    /// Blue less brightness.
    U,
    /// Red less brightness.
    V,
}

impl Plane {
    /// All planes, in the order of I420.
    pub const ALL: [Self; 3] = [Self::Y, Self::U, Self::V];
}

impl Size {
    /// The largest width and height.
    pub const LARGEST: u16 = 16383;

    /// A size in pixels.
    ///
    /// # Errors
    /// When either is 0 or over 16383.
    pub const fn new(width: usize, height: usize) -> Result<Self, SizeError> {
        let largest = Self::LARGEST as usize;
        if width == 0 || height == 0 || width > largest || height > largest {
            return Err(SizeError { width, height });
        }
        Ok(Self { width: width as u16, height: height as u16 })
    }

    /// Width in pixels, 1 to 16383.
    #[must_use]
    pub const fn width(self) -> usize {
        self.width as usize
    }

    /// Height in pixels, 1 to 16383.
    #[must_use]
    pub const fn height(self) -> usize {
        self.height as usize
    }

    /// Number of pixels.
    #[must_use]
    pub const fn pixels(self) -> usize {
        self.width() * self.height()
    }

    /// Macroblocks (16x16 pixels) per row; the last may reach over the picture's edge.
    #[must_use]
    pub const fn columns(self) -> usize {
        self.width().div_ceil(16)
    }

    /// Number of rows of macroblocks.
    #[must_use]
    pub const fn rows(self) -> usize {
        self.height().div_ceil(16)
    }

    /// Number of macroblocks.
    #[must_use]
    pub const fn macroblocks(self) -> usize {
        self.columns() * self.rows()
    }

    /// Columns and rows of a plane that are shown.
    #[must_use]
    pub const fn shown(self, plane: Plane) -> (usize, usize) {
        match plane {
            Plane::Y => (self.width(), self.height()),
            Plane::U | Plane::V => (self.width().div_ceil(2), self.height().div_ceil(2)),
        }
    }

    /// Columns and rows of a plane that are coded: whole macroblocks.
    #[must_use]
    pub const fn coded(self, plane: Plane) -> (usize, usize) {
        let side = match plane {
            Plane::Y => 16,
            Plane::U | Plane::V => 8,
        };
        (self.columns() * side, self.rows() * side)
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}x{}", self.width, self.height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_coded_in_whole_macroblocks() {
        let size = Size::new(175, 143).unwrap();
        assert_eq!((size.columns(), size.rows(), size.macroblocks()), (11, 9, 99));
        assert_eq!((size.shown(Plane::U), size.coded(Plane::U)), ((88, 72), (88, 72)));
        assert_eq!((size.shown(Plane::Y), size.coded(Plane::Y)), ((175, 143), (176, 144)));
    }

    #[test]
    fn sizes_that_fourteen_bits_do_not_hold_are_refused() {
        for (width, height) in [(0, 1), (1, 0), (16384, 1), (1, 16384)] {
            assert_eq!(Size::new(width, height), Err(SizeError { width, height }));
        }
        assert!(Size::new(16383, 16383).is_ok());
    }
}
