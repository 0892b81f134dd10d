//! Pictures to encode.

use thalweg_vp8::{Image, Size};

/// The content of the pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scene {
    /// Textured squares that move over a textured background, with a little noise: similar to video.
    Moving,
    /// Noise, different in each picture.
    Noise,
    /// Black.
    Black,
    /// The minimum and maximum values, with hard edges that jump.
    Extremes,
}

impl Scene {
    pub const ALL: [Self; 4] = [Self::Moving, Self::Noise, Self::Black, Self::Extremes];

    /// The picture at a time.
    pub fn image(self, size: Size, time: usize) -> Image {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (time as u64 + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9));
        let mut bytes = Vec::with_capacity(Image::i420_length(size));
        for plane in thalweg_vp8::Plane::ALL {
            let (width, height) = size.shown(plane);
            let scale = size.width().div_ceil(width);
            for y in 0..height {
                for x in 0..width {
                    bytes.push(self.pixel(x * scale, y * scale, time, plane as usize, &mut random));
                }
            }
        }
        Image::from_i420(size, &bytes).unwrap()
    }

    fn pixel(self, x: usize, y: usize, time: usize, plane: usize, random: &mut Random) -> u8 {
        match self {
            Self::Black => [16, 128, 128][plane],
            Self::Noise => random.next() as u8,
            Self::Extremes => {
                if ((x + 5 * time) / 7 + (y + 3 * time) / 5 + plane).is_multiple_of(2) {
                    0
                } else {
                    255
                }
            }
            Self::Moving => {
                let noise = (random.next() % 5) as i32;
                let texture = |x: usize, y: usize| ((x * x / 5 + y * 7 + (x ^ y) * 3) % 61) as i32;
                // A square of 24 pixels every 40, moving by three pixels and one.
                let (moved_x, moved_y) = (x + 400 - 3 * (time % 100), y + 400 - time % 100);
                let inside = moved_x % 40 < 24 && moved_y % 40 < 24;
                let value = if inside { 120 + texture(moved_x, moved_y) } else { 60 + texture(x, y) / 2 };
                (value + noise + 10 * plane as i32).clamp(0, 255) as u8
            }
        }
    }
}

/// A generator of numbers (xorshift64, Marsaglia 2003).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.next() as usize % limit
    }
}
