//! Everything that decoding a frame depends on besides the frame.
//!
//! A [`State`] is a value. Decoding makes the next from one and leaves the one as it was, so that any number of them
//! can be kept, compared, gone back to, named by a hash ([`State::hash`]) or sent ([`State::to_bytes`]). Copies share their
//! pictures and cost a few kilobytes.
//!
//! What a frame says for itself alone (its quantiser, loop filter level, the probabilities of its segments, the sign biases of its
//! motion vectors, which every frame but a key frame says anew) is no part of the state: two decoders that only differ in
//! that will decode everything alike, and their states are equal.

mod bytes;
mod coding;
mod hash;
mod references;
mod segmentation;

pub use bytes::StateError;
pub use coding::Coding;
pub use hash::StateHash;
pub use references::References;
pub use segmentation::{SegmentMap, SegmentValues};

use crate::image::Size;
use crate::syntax::Probabilities;

/// Everything that decoding a frame depends on besides the frame. The default is where a stream begins: there only a key
/// frame can be decoded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct State {
    references: Option<References>,
    probabilities: Probabilities,
    segment_values: SegmentValues,
    segments: SegmentMap,
    filter_deltas: FilterDeltas,
}

/// What is added to the loop filter level of some macroblocks, -63 to 63 each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FilterDeltas {
    /// Of those predicted from: their own frame, the last, the golden, the altref frame.
    pub references: [i8; 4],
    /// Of those predicted: in intra subblocks, without motion, with one vector, with several.
    pub modes: [i8; 4],
}

impl State {
    /// Where a stream begins.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The frames to predict from; none before the first key frame.
    #[must_use]
    pub const fn references(&self) -> Option<&References> {
        self.references.as_ref()
    }

    /// How large the pictures are; none before the first key frame.
    #[must_use]
    pub fn size(&self) -> Option<Size> {
        self.references.as_ref().map(|references| references.size)
    }

    /// The probabilities that the next frame starts from, unless it is a key frame.
    #[must_use]
    pub const fn probabilities(&self) -> &Probabilities {
        &self.probabilities
    }

    /// In what the segments differ, unless the next frame says otherwise.
    #[must_use]
    pub const fn segment_values(&self) -> &SegmentValues {
        &self.segment_values
    }

    /// In which segments the macroblocks are, unless the next frame says otherwise.
    #[must_use]
    pub const fn segments(&self) -> &SegmentMap {
        &self.segments
    }

    /// What is added to loop filter levels, unless the next frame says otherwise.
    #[must_use]
    pub const fn filter_deltas(&self) -> &FilterDeltas {
        &self.filter_deltas
    }
}
