//! Encoded frames, as C has them.

use thalweg_types::EncodedFrame;
use thalweg_units::{Bytes, Size};

use crate::error::Error;
use crate::sized::Structure;

/// `thalweg_encoded.flags`: it refers to no other frame.
pub const THALWEG_ENCODED_KEYFRAME: u32 = 1;

/// The largest frame, 16 MiB.
const LARGEST: u64 = 1 << 24;

/// A frame that the encoder made, as far as the engine needs it: its bytes stay with the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Encoded {
    /// sizeof(thalweg_encoded).
    pub size: u32,
    /// THALWEG_ENCODED_KEYFRAME or 0.
    pub flags: u32,
    /// How many bytes it has, 1 to 16777216.
    pub bytes: u64,
    /// Pixels in a row of its picture.
    pub width: u16,
    /// Rows of its picture.
    pub height: u16,
    /// Its quantiser in the codec's own scale, 0 to 255; -1 if unknown.
    pub quantizer: i16,
    /// Its temporal layer: that of THALWEG_ENCODE.
    pub layer: u8,
    /// Zero.
    pub reserved: [u8; 9],
}

// SAFETY: numbers without gaps.
unsafe impl Structure for Encoded {
    const NAME: &'static str = "thalweg_encoded";
    const DEFAULT: Encoded = Encoded {
        size: size_of::<Encoded>() as u32,
        flags: 0,
        bytes: 0,
        width: 0,
        height: 0,
        quantizer: -1,
        layer: 0,
        reserved: [0; 9],
    };
}

impl Encoded {
    pub(super) fn frame(&self) -> Result<EncodedFrame, Error> {
        let picture = Size::new(self.width, self.height);
        if !(1..=LARGEST).contains(&self.bytes) {
            return Err(Error::range("bytes", self.bytes, format_args!("1 to {LARGEST}")));
        }
        if picture.pixels() == 0 {
            return Err(Error::range("width x height", picture, "those of THALWEG_ENCODE"));
        }
        let refused = |_| Error::range("quantizer", self.quantizer, "0 to 255, or -1 for unknown");
        let quantizer = if self.quantizer == -1 { None } else { Some(u8::try_from(self.quantizer).map_err(refused)?) };
        Ok(EncodedFrame::new(Bytes::new(self.bytes), picture).with(|frame| {
            frame.keyframe = self.flags & THALWEG_ENCODED_KEYFRAME != 0;
            frame.layer = self.layer;
            frame.quantizer = quantizer;
        }))
    }
}
