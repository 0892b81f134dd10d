//! Values that the unit tests vary.

use thalweg_types::{EncodedFrame, Fragment};
use thalweg_units::{Bytes, Size, Time};

/// A fragment of 1000 bytes: `index` of the `count` of a frame that refers to the frame before it.
pub(crate) fn fragment(frame: u64, (index, count): (u16, u16)) -> Fragment {
    Fragment {
        frame,
        picture: frame,
        captured: Time::ZERO,
        index,
        count,
        offset: u32::from(index) * 1000,
        length: 1000,
        keyframe: frame == 0,
        layer: 0,
        depends_on: frame.checked_sub(1),
        transition: None,
    }
}

/// A frame of this many bytes.
pub(crate) fn encoded(bytes: u64) -> EncodedFrame {
    EncodedFrame::new(Bytes::new(bytes), Size::HD)
}
