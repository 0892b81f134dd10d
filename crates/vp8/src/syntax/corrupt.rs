//! Errors: frames that cannot be decoded, and frames that cannot be written.

use crate::image::{Size, SizeError};

/// Why a frame cannot be decoded. The state does not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Corrupt {
    /// The frame ends before a required part.
    #[error("the {what} is truncated: the frame has {length} bytes, and it ends after {expected}")]
    Truncated {
        /// The incomplete part.
        what: &'static str,
        /// Length of the frame in bytes.
        length: usize,
        /// Minimum length in bytes.
        expected: usize,
    },
    /// The first partition has length 0.
    #[error("the first partition is empty: a frame has at least a header in it")]
    EmptyFirstPartition,
    /// A partition other than the last has length 0.
    #[error("partition {index} of the coefficients is empty while others follow it")]
    EmptyPartition {
        /// Its index, from 0.
        index: usize,
    },
    /// The start code of a key frame is wrong.
    #[error("the frame's start code is {bytes:02x?}: a key frame has 9d 01 2a in its fourth to sixth byte")]
    StartCode {
        /// The bytes found.
        bytes: [u8; 3],
    },
    /// The size of a key frame is invalid.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// A key frame exceeds the caller's limit.
    #[error("a key frame of {size} pixels is over the limit of {limit} pixels set for this decoder")]
    TooLarge {
        /// Its size.
        size: Size,
        /// Maximum number of pixels.
        limit: usize,
    },
    /// The code for copying a reference is invalid.
    #[error("the update of the {which} frame is coded as 3: 0, 1 and 2 have meanings")]
    ReferenceCopy {
        /// The reference to be replaced.
        which: &'static str,
    },
    /// An inter frame without a key frame before it.
    #[error("the frame is predicted from others, but there is none in this state: decode a key frame first")]
    NoKeyFrame,
    /// The first frame of a stream, or of a new size, is incomplete: no complete picture could follow.
    #[error("the key frame is incomplete: some of its macroblocks have no data")]
    IncompleteKeyFrame,
}

/// Why a frame cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// An inter frame, and the state has no references.
    #[error("a frame predicted from others was to be written for a state that has none: write a key frame first")]
    NoKeyFrame,
    /// The number of macroblocks is wrong.
    #[error("{count} macroblocks were to be written as a frame of {size} pixels, which has {expected}")]
    Macroblocks {
        /// The number of macroblocks given.
        count: usize,
        /// The frame's size.
        size: Size,
        /// The number of macroblocks needed.
        expected: usize,
    },
    /// A part is too long for its length field.
    #[error("the {part} of the frame has {length} bytes, and can have {max}: code a smaller picture, or more coarsely")]
    TooLong {
        /// The part.
        part: &'static str,
        /// Its length in bytes.
        length: usize,
        /// Its maximum length in bytes.
        max: usize,
    },
}
