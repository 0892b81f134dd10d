//! The first bytes of a frame, outside of the arithmetic code (RFC 6386 section 9.1).

use super::super::corrupt::Corrupt;
use super::kind::Scaling;
use crate::image::Size;

/// The fourth to sixth bytes of a key frame.
pub const KEY_START_CODE: [u8; 3] = [0x9d, 0x01, 0x2a];

/// Maximum length of the first partition in bytes: its length field has nineteen bits.
pub const LARGEST_FIRST_PARTITION: usize = (1 << 19) - 1;

/// The content of the first three bytes of a frame, or ten of a key frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameTag {
    /// Which filters reconstruct the frame, 0 to 7.
    pub version: u8,
    /// True if the frame is to be shown.
    pub is_shown: bool,
    /// Length of the first partition in bytes, 0 to 524287.
    pub first_partition: usize,
    /// For a key frame its size and scaling.
    pub key: Option<(Size, Scaling)>,
}

impl FrameTag {
    /// Reads the tag; also returns the bytes after it.
    ///
    /// # Errors
    /// When the frame ends too early, or a key frame's start code or size is invalid.
    pub fn read(frame: &[u8]) -> Result<(Self, &[u8]), Corrupt> {
        let (&[first, second, third], rest) = frame.split_first_chunk().ok_or(Corrupt::Truncated {
            what: "frame tag",
            length: frame.len(),
            expected: 3,
        })?;
        let tag = Self {
            version: first >> 1 & 7,
            is_shown: first >> 4 & 1 == 1,
            first_partition: usize::from(first >> 5) | usize::from(second) << 3 | usize::from(third) << 11,
            key: None,
        };
        if first & 1 == 1 {
            return Ok((tag, rest));
        }
        let (&[a, b, c, width_low, width_high, height_low, height_high], rest) = rest
            .split_first_chunk()
            .ok_or(Corrupt::Truncated { what: "key frame's header", length: frame.len(), expected: 10 })?;
        if [a, b, c] != KEY_START_CODE {
            return Err(Corrupt::StartCode { bytes: [a, b, c] });
        }
        let side = |low, high: u8| usize::from(low) | usize::from(high & 0x3f) << 8;
        let size = Size::new(side(width_low, width_high), side(height_low, height_high))?;
        let scaling = Scaling { across: width_high >> 6, down: height_high >> 6 };
        Ok((Self { key: Some((size, scaling)), ..tag }, rest))
    }

    /// Appends the tag to bytes.
    ///
    /// # Panics
    /// When the first partition is longer than its field allows, 524287 bytes.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let length = self.first_partition;
        assert!(length <= LARGEST_FIRST_PARTITION, "a first partition of {length} bytes is longer than 524287");
        let first = u8::from(self.key.is_none()) | self.version << 1 | u8::from(self.is_shown) << 4;
        bytes.extend([first | (length << 5) as u8, (length >> 3) as u8, (length >> 11) as u8]);
        if let Some((size, scaling)) = self.key {
            bytes.extend(KEY_START_CODE);
            for (side, scale) in [(size.width(), scaling.across), (size.height(), scaling.down)] {
                bytes.extend([side as u8, (side >> 8) as u8 | scale << 6]);
            }
        }
    }
}
