//! Pictures.
//!
//! An [`Image`] holds all pixels that the decoder computes: whole macroblocks, so its planes may be up to 15 pixels
//! wider and higher than the shown part. Unlike in other decoders there is no border for motion vectors that point
//! outside: a reference that is kept costs exactly 1.5 bytes per pixel, and blocks that reach over the edge are read
//! through a small copy.

mod planes;
mod size;

pub use planes::{Planes, PlanesMut};
pub use size::{Plane, Size, SizeError};

use std::sync::OnceLock;

use crate::pool::Bytes;

/// A picture in YUV 4:2:0 with 8 bits per sample, of whole macroblocks.
#[derive(Clone)]
pub struct Image {
    size: Size,
    /// The coded planes one after the other, rows without gaps.
    pixels: Bytes,
    /// Hash of the pixels; computed on first use.
    hash: OnceLock<u64>,
}

/// The bytes do not form a picture of this size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{length} bytes are not an I420 picture of {size} pixels, which takes {expected}")]
pub struct ImageError {
    /// The requested size.
    pub size: Size,
    /// Number of bytes given.
    pub length: usize,
    /// Number of bytes needed.
    pub expected: usize,
}

impl Image {
    /// A picture of one colour.
    #[must_use]
    pub fn filled(size: Size, y: u8, u: u8, v: u8) -> Self {
        let (luma, chroma) = Self::lengths(size);
        let mut pixels = Bytes::any(luma + 2 * chroma);
        pixels[..luma].fill(y);
        pixels[luma..luma + chroma].fill(u);
        pixels[luma + chroma..].fill(v);
        Self { size, pixels, hash: OnceLock::new() }
    }

    /// A picture with arbitrary pixels, all of which are to be overwritten.
    #[must_use]
    pub(crate) fn blank(size: Size) -> Self {
        Self { size, pixels: Bytes::any(Self::coded_length(size)), hash: OnceLock::new() }
    }

    /// A placeholder for a picture that is taken away: the smallest possible one.
    pub(crate) fn nothing() -> Self {
        Self::blank(Size::new(1, 1).expect("a pixel is a picture"))
    }

    /// The picture whose shown pixels are `bytes`: the planes Y, U and V one after the other without gaps. Coded pixels
    /// beyond the edges repeat the edges.
    ///
    /// # Errors
    /// When the number of bytes is wrong for this size.
    pub fn from_i420(size: Size, bytes: &[u8]) -> Result<Self, ImageError> {
        let expected = Self::i420_length(size);
        if bytes.len() != expected {
            return Err(ImageError { size, length: bytes.len(), expected });
        }
        let mut image = Self::blank(size);
        let mut rest = bytes;
        for (plane, target) in Plane::ALL.into_iter().zip(image.planes_mut().into_array()) {
            let (width, height) = size.shown(plane);
            let (shown, after) = rest.split_at(width * height);
            rest = after;
            for (row, pixels) in target.chunks_exact_mut(size.coded(plane).0).enumerate() {
                let shown = &shown[row.min(height - 1) * width..][..width];
                pixels[..width].copy_from_slice(shown);
                pixels[width..].fill(shown[width - 1]);
            }
        }
        Ok(image)
    }

    /// The shown pixels, the planes Y, U and V one after the other without gaps.
    #[must_use]
    pub fn to_i420(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::i420_length(self.size));
        for plane in Plane::ALL {
            self.shown_rows(plane).for_each(|row| bytes.extend_from_slice(row));
        }
        bytes
    }

    /// Number of bytes of a picture in I420 format.
    #[must_use]
    pub const fn i420_length(size: Size) -> usize {
        let (width, height) = size.shown(Plane::U);
        size.pixels() + 2 * width * height
    }

    /// The size of the shown picture.
    #[must_use]
    pub const fn size(&self) -> Size {
        self.size
    }

    /// The distance between two rows of a plane, in pixels: its coded width.
    #[must_use]
    pub const fn stride(&self, plane: Plane) -> usize {
        self.size.coded(plane).0
    }

    /// A coded plane: its rows from the top, [`stride`](Self::stride) pixels each.
    #[must_use]
    pub fn plane(&self, plane: Plane) -> &[u8] {
        let planes = self.planes();
        match plane {
            Plane::Y => planes.y,
            Plane::U => planes.u,
            Plane::V => planes.v,
        }
    }

    /// The shown part of a plane's rows, from the top.
    pub fn shown_rows(&self, plane: Plane) -> impl Iterator<Item = &[u8]> {
        let (width, height) = self.size.shown(plane);
        self.plane(plane).chunks_exact(self.stride(plane)).take(height).map(move |row| &row[..width])
    }

    /// The coded planes.
    #[must_use]
    pub fn planes(&self) -> Planes<'_> {
        let (luma, chroma) = Self::lengths(self.size);
        let (y, rest) = self.pixels.split_at(luma);
        let (u, v) = rest.split_at(chroma);
        Planes { y, u, v, stride: self.stride(Plane::Y) }
    }

    /// The coded planes, mutable.
    #[must_use]
    pub fn planes_mut(&mut self) -> PlanesMut<'_> {
        self.hash = OnceLock::new();
        let (luma, chroma) = Self::lengths(self.size);
        let stride = self.stride(Plane::Y);
        let (y, rest) = self.pixels.split_at_mut(luma);
        let (u, v) = rest.split_at_mut(chroma);
        PlanesMut { y, u, v, stride }
    }

    /// Number of bytes of the coded planes: 1.5 per pixel.
    #[must_use]
    pub(crate) const fn coded_length(size: Size) -> usize {
        let (luma, chroma) = Self::lengths(size);
        luma + 2 * chroma
    }

    /// The coded planes one after the other.
    pub(crate) fn coded(&self) -> &[u8] {
        &self.pixels
    }

    /// The picture with these coded planes, one after the other; `None` if the length is wrong.
    pub(crate) fn from_coded(size: Size, pixels: &[u8]) -> Option<Self> {
        (pixels.len() == Self::coded_length(size)).then(|| Self {
            size,
            pixels: Bytes::of(pixels),
            hash: OnceLock::new(),
        })
    }

    /// A hash of the coded pixels, the same on every machine.
    pub(crate) fn hash(&self) -> u64 {
        *self.hash.get_or_init(|| xxhash_rust::xxh3::xxh3_64(&self.pixels))
    }

    const fn lengths(size: Size) -> (usize, usize) {
        (size.macroblocks() * 256, size.macroblocks() * 64)
    }
}

impl PartialEq for Image {
    fn eq(&self, other: &Self) -> bool {
        self.size == other.size && self.pixels == other.pixels
    }
}

impl Eq for Image {}

impl std::fmt::Debug for Image {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Image({}, {:016x})", self.size, self.hash())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i420_goes_in_and_comes_out_again() {
        let size = Size::new(19, 5).unwrap();
        let bytes: Vec<u8> = (0..Image::i420_length(size)).map(|i| i as u8).collect();
        let image = Image::from_i420(size, &bytes).unwrap();
        assert_eq!(image.to_i420(), bytes);
        assert_eq!(image.plane(Plane::Y).len(), 32 * 16);
        assert_eq!(image.plane(Plane::Y)[18..32], [18; 14]);
        assert_eq!(image.plane(Plane::Y)[15 * 32], bytes[4 * 19]);
    }

    #[test]
    fn bytes_of_another_length_are_refused() {
        let size = Size::new(2, 2).unwrap();
        let error = Image::from_i420(size, &[0; 5]).unwrap_err();
        assert_eq!(error.to_string(), "5 bytes are not an I420 picture of 2x2 pixels, which takes 6");
    }

    #[test]
    fn drawing_changes_the_hash() {
        let mut image = Image::filled(Size::new(16, 16).unwrap(), 1, 2, 3);
        let (before, other) = (image.hash(), image.clone());
        image.planes_mut().v[63] = 4;
        assert_ne!(image.hash(), before);
        assert_ne!(image, other);
    }
}
