//! Why a black box could not be measured.

use std::io;
use std::path::PathBuf;

use thalweg_units::Span;
use thalweg_video::source::SourceError;

use super::Part;
use crate::web::WebError;
use thalweg_emulate::EmulateError;

/// A call could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum BlackBoxError {
    /// The program cannot be run.
    #[error("cannot run {}: {source}; install it, or give its path with --program", program.display())]
    Program {
        /// The program.
        program: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The program ended during the call.
    #[error("the {part} ended: {words}")]
    Ended {
        /// Which one.
        part: Part,
        /// The end of what it wrote to standard error.
        words: String,
    },
    /// The program says that it cannot go on.
    #[error("the {part}: {words}")]
    Failed {
        /// Which one.
        part: Part,
        /// Its reason.
        words: String,
    },
    /// The program offers no address that a relay could reach.
    #[error("the {0} offers no address of IPv4 for UDP; `thalweg shell` emulates a link for programs without one")]
    Unreachable(Part),
    /// The call did not begin.
    #[error("no packet was sent within {0}")]
    Silent(Span),
    /// The video cannot be read.
    #[error("video: {0}")]
    Video(#[from] SourceError),
    /// The camera's file cannot be written.
    #[error("cannot write the camera's pictures to {}: {source}; TMPDIR names another folder", path.display())]
    Camera {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The link cannot be emulated.
    #[error(transparent)]
    Link(#[from] EmulateError),
    /// The mailbox cannot be served.
    #[error(transparent)]
    Mailbox(#[from] WebError),
    /// A system call failed.
    #[error("the system refused: {0}")]
    System(#[from] io::Error),
    /// The progress callback ended the call.
    #[error("interrupted")]
    Interrupted,
}
