//! The size of a picture.

use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

/// The size of a picture in pixels: width x height.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size {
    /// Pixels per row.
    pub width: u16,
    /// Number of rows.
    pub height: u16,
}

impl Size {
    /// 1280x720.
    pub const HD: Size = Size { width: 1280, height: 720 };
    /// 1920x1080.
    pub const FULL_HD: Size = Size { width: 1920, height: 1080 };

    /// A picture of `width` x `height` pixels.
    pub const fn new(width: u16, height: u16) -> Size {
        Size { width, height }
    }

    /// Luma samples in a picture.
    pub const fn pixels(self) -> u64 {
        self.width as u64 * self.height as u64
    }

    /// This size with both sides multiplied by `factor`, rounded to even numbers and at least 2x2.
    pub fn scale(self, factor: f64) -> Size {
        let side = |length: u16| (libm::round(f64::from(length) * factor / 2.0) * 2.0).clamp(2.0, 16_382.0) as u16;
        Size { width: side(self.width), height: side(self.height) }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// The error of parsing a picture size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseSizeError(String);

impl fmt::Display for ParseSizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid picture size '{}': write width x height, each 2 to 16383, as in 1280x720, or 720p", self.0)
    }
}

impl core::error::Error for ParseSizeError {}

impl FromStr for Size {
    type Err = ParseSizeError;
    /// Parses `1280x720`, or `720p` for a 16:9 picture of that height.
    fn from_str(text: &str) -> Result<Size, ParseSizeError> {
        let error = || ParseSizeError(text.to_string());
        let trimmed = text.trim();
        let (width, height) = if let Some(height) = trimmed.strip_suffix(['p', 'P']) {
            let height: u16 = height.parse().map_err(|_| error())?;
            ((u32::from(height) * 16 / 9).next_multiple_of(2), height)
        } else {
            let (width, height) = trimmed.split_once(['x', 'X']).ok_or_else(error)?;
            (width.parse().map_err(|_| error())?, height.parse().map_err(|_| error())?)
        };
        let allowed = 2..=16_383;
        match u16::try_from(width) {
            Ok(width) if allowed.contains(&width) && allowed.contains(&height) => Ok(Size { width, height }),
            _ => Err(error()),
        }
    }
}

#[cfg(feature = "serde")]
crate::parse::serde_as_text!(Size);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_pixels_or_lines() {
        assert_eq!("1280x720".parse(), Ok(Size::HD));
        assert_eq!("720p".parse(), Ok(Size::HD));
        assert_eq!("480p".parse(), Ok(Size::new(854, 480)));
        assert_eq!(Size::HD.to_string(), "1280x720");
        for bad in ["720", "0x5", "axb", "99999x2", "65535p"] {
            assert!(bad.parse::<Size>().unwrap_err().to_string().contains(bad));
        }
    }
}
