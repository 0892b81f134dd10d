//! The plan of a frame, set by the caller for each frame.

use crate::syntax::Reference;
use crate::syntax::header::ReferenceUpdate;

/// The requirements for a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Key frame, or inter frame with its references.
    pub kind: PlanKind,
    /// True if a receiver is to show it.
    pub is_shown: bool,
    /// Keeps its changes of probabilities for later frames. Unsuitable for a frame that may be lost and to which no later
    /// frame refers.
    pub keeps_probabilities: bool,
    /// The quantiser, 0 (finest) to 127, that motion and modes are optimised for. Candidates may be coded at any
    /// quantiser; the nearer to this one, the better they are.
    pub quantizer: u8,
    /// Sizes learned from the last frame ([`Coded::fit`](super::Coded::fit)); `None` if nothing was learned.
    pub fit: Option<Fit>,
}

/// How a frame's size differed from its estimate: the next one's will likewise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit {
    /// Bytes of its header and modes.
    pub(super) fixed: u64,
    /// Bytes of its levels, and as many as were expected.
    pub(super) levels: (u64, u64),
}

/// Type of a frame: key or inter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanKind {
    /// A key frame, which needs no other frame; it replaces all references.
    Key,
    /// An inter frame, predicted from references.
    Inter {
        /// The references that it may use.
        from: ReferenceSet,
        /// True if it replaces the last frame.
        refreshes_last: bool,
        /// The update of the golden frame. If golden becomes altref while altref is replaced too, it becomes the new
        /// altref frame, and the frame is written such that [all decoders](ReferenceUpdate) agree.
        golden: ReferenceUpdate,
        /// The update of the altref frame.
        altref: ReferenceUpdate,
    },
}

/// A set of references.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReferenceSet {
    /// True if it contains the last frame.
    pub last: bool,
    /// True if it contains the golden frame.
    pub golden: bool,
    /// True if it contains the altref frame.
    pub altref: bool,
}

impl ReferenceSet {
    /// None of them.
    pub const NONE: Self = Self { last: false, golden: false, altref: false };

    /// All of them.
    pub const ALL: Self = Self { last: true, golden: true, altref: true };

    /// Returns true if it contains a reference.
    #[must_use]
    pub const fn contains(self, reference: Reference) -> bool {
        match reference {
            Reference::Last => self.last,
            Reference::Golden => self.golden,
            Reference::Altref => self.altref,
        }
    }
}

impl Plan {
    /// A key frame.
    #[must_use]
    pub const fn key(quantizer: u8) -> Self {
        Self { kind: PlanKind::Key, is_shown: true, keeps_probabilities: true, quantizer, fit: None }
    }

    /// A frame that is predicted from all references and replaces the last frame; golden and altref frame stay.
    #[must_use]
    pub const fn inter(quantizer: u8) -> Self {
        let kind = PlanKind::Inter {
            from: ReferenceSet::ALL,
            refreshes_last: true,
            golden: ReferenceUpdate::Keep,
            altref: ReferenceUpdate::Keep,
        };
        Self { kind, is_shown: true, keeps_probabilities: true, quantizer, fit: None }
    }
}
