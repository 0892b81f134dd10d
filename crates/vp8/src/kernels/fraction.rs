//! The fractional part of a motion vector.

/// The fractional position in a reference, in eighths of a pixel, 0 to 7 in each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fraction {
    x: u8,
    y: u8,
}

impl Fraction {
    /// The low three bits of a vector in eighths of a pixel. Chroma vectors are in eighths; a luma vector is in
    /// quarters, so its components must be doubled first.
    #[must_use]
    pub const fn of_vector(x: i32, y: i32) -> Self {
        Self { x: (x & 7) as u8, y: (y & 7) as u8 }
    }

    /// Eighths to the right, 0 to 7.
    #[must_use]
    pub const fn x(self) -> usize {
        self.x as usize
    }

    /// Eighths down, 0 to 7.
    #[must_use]
    pub const fn y(self) -> usize {
        self.y as usize
    }
}

/// The six-tap filters for each eighth, in 128ths, for the pixels from two before to three after (RFC 6386 section
/// 18.3).
pub const SIX_TAPS: [[i8; 6]; 8] = [
    [0, 0, 0, 0, 0, 0], // the identity: 128 at the third place
    [0, -6, 123, 12, -1, 0],
    [2, -11, 108, 36, -8, 1],
    [0, -9, 93, 50, -6, 0],
    [3, -16, 77, 77, -16, 3],
    [0, -6, 50, 93, -9, 0],
    [1, -8, 36, 108, -11, 2],
    [0, -1, 12, 123, -6, 0],
];
