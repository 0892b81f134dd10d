//! Why received video cannot be handled.

use std::path::PathBuf;

use thalweg_codecs::DecodeError;

/// Why received video is not decoded or not written.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// A file cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Write {
        /// The file's path.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// The decoder cannot be created.
    #[error(transparent)]
    Decoder(#[from] DecodeError),
    /// Its thread cannot be started.
    #[error("{0}")]
    System(#[from] std::io::Error),
}
