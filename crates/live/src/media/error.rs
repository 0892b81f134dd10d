//! Why there is nothing to send.

/// A source of audio or video could not be read.
#[derive(Debug, thiserror::Error)]
pub enum MediaError {
    /// The file, pipe or process failed.
    #[error("{what}: {error}")]
    Io {
        /// What was read.
        what: String,
        /// What went wrong.
        error: std::io::Error,
    },
    /// The source is not what it should be.
    #[error("{what}: {problem}")]
    Format {
        /// What was read.
        what: String,
        /// What is wrong, what is allowed, and what to do.
        problem: String,
    },
}

impl MediaError {
    pub(super) fn io(what: &str, error: std::io::Error) -> MediaError {
        MediaError::Io { what: what.into(), error }
    }

    pub(super) fn format(what: &str, problem: impl Into<String>) -> MediaError {
        MediaError::Format { what: what.into(), problem: problem.into() }
    }
}
