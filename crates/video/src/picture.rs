//! A picture.

use thalweg_units::Size;

/// An 8-bit I420 picture: a luma plane of width x height samples, two chroma planes of half that in both directions (rounded
/// up), each stored row after row without gaps (stride = plane width).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    size: Size,
    data: Vec<u8>,
}

/// Which plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plane {
    /// Luma.
    Y,
    /// Blue-difference chroma.
    U,
    /// Red-difference chroma.
    V,
}

impl Plane {
    /// All three, in the order they are stored.
    pub const ALL: [Plane; 3] = [Plane::Y, Plane::U, Plane::V];
}

/// The bytes do not form a picture of this size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{got} bytes are no I420 picture of {size}: it takes {wanted}")]
pub struct PictureError {
    size: Size,
    wanted: usize,
    got: usize,
}

impl Picture {
    /// A picture with every plane at one value.
    pub fn filled(size: Size, y: u8, u: u8, v: u8) -> Picture {
        let mut data = vec![y; Picture::bytes(size)];
        let (luma, chroma) = (Picture::plane_bytes(size, Plane::Y), Picture::plane_bytes(size, Plane::U));
        data[luma..luma + chroma].fill(u);
        data[luma + chroma..].fill(v);
        Picture { size, data }
    }

    /// A picture of `data`: the luma plane, then U, then V.
    ///
    /// # Errors
    /// When the length is not that of a picture of this size.
    pub fn new(size: Size, data: Vec<u8>) -> Result<Picture, PictureError> {
        let wanted = Picture::bytes(size);
        if data.len() == wanted {
            Ok(Picture { size, data })
        } else {
            Err(PictureError { size, wanted, got: data.len() })
        }
    }

    /// Number of bytes of a picture of this size.
    pub fn bytes(size: Size) -> usize {
        Plane::ALL.iter().map(|plane| Picture::plane_bytes(size, *plane)).sum()
    }

    /// Width and height of a plane.
    pub fn plane_size(size: Size, plane: Plane) -> (usize, usize) {
        let (width, height) = (usize::from(size.width), usize::from(size.height));
        match plane {
            Plane::Y => (width, height),
            Plane::U | Plane::V => (width.div_ceil(2), height.div_ceil(2)),
        }
    }

    fn plane_bytes(size: Size, plane: Plane) -> usize {
        let (width, height) = Picture::plane_size(size, plane);
        width * height
    }

    fn plane_start(size: Size, plane: Plane) -> usize {
        match plane {
            Plane::Y => 0,
            Plane::U => Picture::plane_bytes(size, Plane::Y),
            Plane::V => Picture::plane_bytes(size, Plane::Y) + Picture::plane_bytes(size, Plane::U),
        }
    }

    /// Width x height of the luma plane.
    pub fn size(&self) -> Size {
        self.size
    }

    /// All samples: luma, U, V.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// The samples of a plane, row after row.
    pub fn plane(&self, plane: Plane) -> &[u8] {
        let start = Picture::plane_start(self.size, plane);
        &self.data[start..start + Picture::plane_bytes(self.size, plane)]
    }

    /// The samples of a plane, mutable.
    pub fn plane_mut(&mut self, plane: Plane) -> &mut [u8] {
        let start = Picture::plane_start(self.size, plane);
        let end = start + Picture::plane_bytes(self.size, plane);
        &mut self.data[start..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_sizes_round_chroma_up() {
        let picture = Picture::filled(Size::new(5, 3), 1, 2, 3);
        assert_eq!(
            (picture.plane(Plane::Y).len(), picture.plane(Plane::U).len(), picture.plane(Plane::V).len()),
            (15, 6, 6)
        );
        assert!(picture.plane(Plane::V).iter().all(|sample| *sample == 3));
    }

    #[test]
    fn bytes_of_the_wrong_length_are_refused_with_both_lengths() {
        let message = Picture::new(Size::new(4, 4), vec![0; 23]).unwrap_err().to_string();
        assert!(message.contains("23") && message.contains("24"), "{message}");
    }
}
