//! The decoder state: everything except the frame that decoding depends on.
//!
//! A [`State`] is a value. Decoding returns a new state and leaves the old one unchanged, so that any number of them
//! can be kept, compared, restored, identified by a hash ([`State::hash`]) or sent ([`State::to_bytes`]). Copies share
//! their pictures and cost a few kilobytes.
//!
//! Values that a frame sets only for itself (its quantiser, loop filter level, the probabilities of its segments, and
//! the sign biases of its motion vectors, which every inter frame sets anew) are not part of the state: two decoders
//! that differ only in these decode everything identically, and their states are equal.

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

/// The decoder state: everything except the frame that decoding depends on. The default is the start of a stream, from
/// which only a key frame can be decoded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct State {
    references: Option<References>,
    probabilities: Probabilities,
    segment_values: SegmentValues,
    segments: SegmentMap,
    filter_deltas: FilterDeltas,
}

/// Offsets that are added to the loop filter level of some macroblocks, -63 to 63 each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FilterDeltas {
    /// By reference: the own frame, the last, the golden, the altref frame.
    pub references: [i8; 4],
    /// By mode: intra subblocks, no motion, one vector, several vectors.
    pub modes: [i8; 4],
}

impl State {
    /// The state at the start of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The reference frames; `None` before the first key frame.
    #[must_use]
    pub const fn references(&self) -> Option<&References> {
        self.references.as_ref()
    }

    /// The size of the pictures; `None` before the first key frame.
    #[must_use]
    pub fn size(&self) -> Option<Size> {
        self.references.as_ref().map(|references| references.size)
    }

    /// The probabilities that the next frame starts from, unless it is a key frame.
    #[must_use]
    pub const fn probabilities(&self) -> &Probabilities {
        &self.probabilities
    }
}
