//! The three planes of a picture, borrowed.

/// A picture's coded planes.
#[derive(Debug, Clone, Copy)]
pub struct Planes<'a> {
    /// Luma.
    pub y: &'a [u8],
    /// Blue chroma.
    pub u: &'a [u8],
    /// Red chroma.
    pub v: &'a [u8],
    /// The distance between two rows of luma, a multiple of 16; half of that in the chroma planes.
    pub stride: usize,
}

/// A picture's coded planes, mutable.
#[derive(Debug)]
pub struct PlanesMut<'a> {
    /// Luma.
    pub y: &'a mut [u8],
    /// Blue chroma.
    pub u: &'a mut [u8],
    /// Red chroma.
    pub v: &'a mut [u8],
    /// The distance between two rows of luma, a multiple of 16; half of that in the chroma planes.
    pub stride: usize,
}

impl<'a> PlanesMut<'a> {
    /// Luma, blue and red chroma.
    #[must_use]
    pub fn into_array(self) -> [&'a mut [u8]; 3] {
        [self.y, self.u, self.v]
    }

    /// The planes, read-only.
    #[must_use]
    pub fn as_planes(&self) -> Planes<'_> {
        Planes { y: self.y, u: self.u, v: self.v, stride: self.stride }
    }
}
