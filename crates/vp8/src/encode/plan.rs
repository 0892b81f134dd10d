//! What a frame is to be: decided by the caller, frame by frame.

use crate::syntax::Reference;
use crate::syntax::header::ReferenceUpdate;

/// What is asked of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Whether it is a key frame, or predicted from references, and if so from which.
    pub kind: PlanKind,
    /// Whether a receiver is to show it.
    pub is_shown: bool,
    /// Whether what it changes in the probabilities is for the frames after it as well. A frame that may be lost and
    /// that no later one refers to had better keep them to itself.
    pub keeps_probabilities: bool,
    /// The quantiser, 0 (finest) to 127, that the frame's motion and modes are chosen for. Candidates may be coded with
    /// any, and are the better the nearer theirs is.
    pub quantizer: u8,
}

/// Whether a frame is a key frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanKind {
    /// It needs no other; all references are this frame then.
    Key,
    /// It is predicted from references.
    Inter {
        /// From which it may be predicted.
        from: ReferenceSet,
        /// Whether it becomes the last frame.
        refreshes_last: bool,
        /// What happens to the golden frame. If it becomes the altref frame while that becomes another, it becomes what
        /// altref is by then, which the frame says so that [all decoders](ReferenceUpdate) see the same.
        golden: ReferenceUpdate,
        /// What happens to the altref frame.
        altref: ReferenceUpdate,
    },
}

/// Some of the three references.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReferenceSet {
    /// Whether the last frame is among them.
    pub last: bool,
    /// Whether the golden frame is.
    pub golden: bool,
    /// Whether the altref frame is.
    pub altref: bool,
}

impl ReferenceSet {
    /// None of them.
    pub const NONE: Self = Self { last: false, golden: false, altref: false };

    /// All of them.
    pub const ALL: Self = Self { last: true, golden: true, altref: true };

    /// Only one.
    #[must_use]
    pub const fn only(reference: Reference) -> Self {
        Self {
            last: matches!(reference, Reference::Last),
            golden: matches!(reference, Reference::Golden),
            altref: matches!(reference, Reference::Altref),
        }
    }

    /// Whether a reference is among them.
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
        Self { kind: PlanKind::Key, is_shown: true, keeps_probabilities: true, quantizer }
    }

    /// A frame that is predicted from all references and becomes the last; golden and altref frame stay.
    #[must_use]
    pub const fn inter(quantizer: u8) -> Self {
        let kind = PlanKind::Inter {
            from: ReferenceSet::ALL,
            refreshes_last: true,
            golden: ReferenceUpdate::Keep,
            altref: ReferenceUpdate::Keep,
        };
        Self { kind, is_shown: true, keeps_probabilities: true, quantizer }
    }
}
