//! Why there is no agreement.

use std::fmt;

use crate::parameters::FingerprintError;

/// A part of an SDP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The lines before the first section.
    Session,
    /// A section.
    Section {
        /// Its number, from 0.
        index: usize,
        /// What its `m=` line says it is: `video`, `audio`, `application`, ...
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

/// A section that was not taken, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The section.
    pub section: Place,
    /// The reason, for people.
    pub why: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.section, self.why)
    }
}

/// Why there is no agreement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SdpError {
    /// More bytes than are read.
    #[error("the SDP has {found} bytes, at most {max} are read: offer fewer codecs and candidates")]
    TooLong {
        /// Its bytes.
        found: usize,
        /// Most that are read.
        max: usize,
    },
    /// More sections than are read.
    #[error("the SDP has {found} sections, at most {max} are read: offer one of video and one of audio")]
    TooManySections {
        /// Its sections.
        found: usize,
        /// Most that are read.
        max: usize,
    },
    /// No SDP as RFC 8866 writes it.
    #[error("line {line} of the SDP, {found:?}, is not what RFC 8866 allows there ({why}): send an unaltered SDP")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The line, or its beginning.
        found: String,
        /// What the parser says.
        why: String,
    },
    /// A line with a value that cannot be.
    #[error("{place} has {found:?}, needed is {needed}")]
    Wrong {
        /// Where it is.
        place: Place,
        /// The line, or its beginning.
        found: String,
        /// What it must be.
        needed: String,
    },
    /// A line that must be there is not.
    #[error("{place} has no {needed}")]
    Missing {
        /// Where it must be.
        place: Place,
        /// The line.
        needed: &'static str,
    },
    /// A fingerprint that is none.
    #[error("{place}: {source}")]
    Fingerprint {
        /// Where it is.
        place: Place,
        /// What is wrong with it.
        source: FingerprintError,
    },
    /// No section could be taken.
    #[error("nothing in common with the peer; {}", .0.iter().map(Refusal::to_string).collect::<Vec<_>>().join("; "))]
    NothingInCommon(Vec<Refusal>),
}
