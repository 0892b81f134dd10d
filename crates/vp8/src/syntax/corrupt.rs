//! Frames that cannot be decoded, and such that cannot be written.

use crate::image::{Size, SizeError};

/// Why a frame cannot be decoded. The state it was to be decoded from is as good as before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Corrupt {
    /// The frame ends before something it must have.
    #[error("the {what} is truncated: the frame has {length} bytes, and it ends after {expected}")]
    Truncated {
        /// What is cut off.
        what: &'static str,
        /// How many bytes the frame has.
        length: usize,
        /// How many it has at least.
        expected: usize,
    },
    /// The first partition is said to be empty.
    #[error("the first partition is empty: a frame has at least a header in it")]
    EmptyFirstPartition,
    /// A partition that is not the last is said to be empty.
    #[error("partition {index} of the coefficients is empty while others follow it")]
    EmptyPartition {
        /// Which, from 0.
        index: usize,
    },
    /// The start code of a key frame is another.
    #[error("the frame's start code is {bytes:02x?}: a key frame has 9d 01 2a in its fourth to sixth byte")]
    StartCode {
        /// What is in its place.
        bytes: [u8; 3],
    },
    /// A key frame without pixels.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// A key frame that is larger than the caller allows.
    #[error("a key frame of {size} pixels is over the limit of {limit} pixels set for this decoder")]
    TooLarge {
        /// Its size.
        size: Size,
        /// The most pixels allowed.
        limit: usize,
    },
    /// What takes the place of a reference is a code that has no meaning.
    #[error("what happens to the {which} frame is coded as 3: 0, 1 and 2 have meanings")]
    ReferenceCopy {
        /// Which reference.
        which: &'static str,
    },
    /// A frame that is predicted from others, and no key frame before it.
    #[error("the frame is predicted from others, but there is none in this state: decode a key frame first")]
    NoKeyFrame,
    /// The first frame of a stream, or of a new size, lacks some of its data: nothing complete could follow.
    #[error("the key frame is incomplete: some of its macroblocks have no data")]
    IncompleteKeyFrame,
}

/// Why a frame cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// It is predicted from others, and the state has none.
    #[error("a frame predicted from others was to be written for a state that has none: write a key frame first")]
    NoKeyFrame,
    /// There are too few macroblocks or too many.
    #[error("{count} macroblocks were to be written as a frame of {size} pixels, which has {expected}")]
    Macroblocks {
        /// How many there are.
        count: usize,
        /// The frame's size.
        size: Size,
        /// How many it has.
        expected: usize,
    },
    /// A part is longer than the bits for its length can say.
    #[error("the {part} of the frame has {length} bytes, and can have {max}: code a smaller picture, or more coarsely")]
    TooLong {
        /// Which part.
        part: &'static str,
        /// How many bytes it has.
        length: usize,
        /// How many it can have.
        max: usize,
    },
}
