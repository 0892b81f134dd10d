//! Why a negotiation fails.

use std::fmt;

use crate::parameters::FingerprintError;

/// A part of an SDP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The lines before the first section.
    Session,
    /// A section.
    Section {
        /// Its index, from 0.
        index: usize,
        /// The kind in its `m=` line: `video`, `audio`, `application`, ...
        kind: String,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Session => f.write_str("the session part"),
            Place::Section { index, kind } => write!(f, "section {index} ({kind})"),
        }
    }
}

/// A rejected section, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The section.
    pub section: Place,
    /// The reason, human-readable.
    pub why: String,
    /// True for media in a direction that this endpoint has; false for a section that is closed, goes the other way or is
    /// neither video nor audio.
    pub is_media: bool,
}

impl Refusal {
    /// Returns true for a section of this kind: `video`, `audio`, `application`, ...
    pub fn is_of(&self, kind: &str) -> bool {
        matches!(&self.section, Place::Section { kind: found, .. } if found == kind)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.section, self.why)
    }
}

/// Why a negotiation fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SdpError {
    /// The SDP is too long.
    #[error("the SDP has {found} bytes, at most {max} are read: offer fewer codecs and candidates")]
    TooLong {
        /// Its size in bytes.
        found: usize,
        /// The max size in bytes.
        max: usize,
    },
    /// The SDP has too many sections.
    #[error("the SDP has {found} sections, at most {max} are read: offer one of video and one of audio")]
    TooManySections {
        /// The number of sections.
        found: usize,
        /// The max number of sections.
        max: usize,
    },
    /// Not an SDP according to RFC 8866.
    #[error("line {line} of the SDP, {found:?}, is not what RFC 8866 allows there ({why}): send an unaltered SDP")]
    Syntax {
        /// Line number, from 1.
        line: usize,
        /// The line, or its beginning.
        found: String,
        /// The parser's message.
        why: String,
    },
    /// A line with an invalid value.
    #[error("{place} has {found:?}, needed is {needed}")]
    Wrong {
        /// Its place.
        place: Place,
        /// The line, or its beginning.
        found: String,
        /// The requirement.
        needed: String,
    },
    /// A required line is missing.
    #[error("{place} has no {needed}")]
    Missing {
        /// Its place.
        place: Place,
        /// The required line.
        needed: &'static str,
    },
    /// An invalid fingerprint.
    #[error("{place}: {source}")]
    Fingerprint {
        /// Its place.
        place: Place,
        /// The reason.
        source: FingerprintError,
    },
    /// No section could be accepted.
    #[error("nothing in common with the peer; {}", .0.iter().map(Refusal::to_string).collect::<Vec<_>>().join("; "))]
    NothingInCommon(Vec<Refusal>),
}
