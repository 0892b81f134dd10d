//! Why nothing can be watched.

use std::path::PathBuf;

use thalweg_codecs::DecodeError;
use thalweg_transport::TransportError;
use thalweg_transport::sdp::SdpError;
use thalweg_units::ConfigError;

use crate::whip::WhipError;

/// Why nothing can be watched, or no longer.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The server cannot be reached, or refuses.
    #[error(transparent)]
    Server(#[from] WhipError),
    /// What it answers is no agreement.
    #[error("the server's answer: {0}")]
    Answer(#[from] SdpError),
    /// What was agreed on cannot be received, or the configuration makes no sense.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The connection did not come about, or broke.
    #[error("no connection to the publisher: {0}")]
    Transport(#[from] TransportError),
    /// The publisher said goodbye, and no other session is wanted.
    #[error("the publisher ended the session")]
    Ended,
    /// No connection any more, and no other is wanted.
    #[error("the connection was lost: nothing is received from the publisher any more")]
    Lost,
    /// A file cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// No decoder.
    #[error(transparent)]
    Decoder(#[from] DecodeError),
    /// The system refuses something else.
    #[error("{0}")]
    System(#[from] std::io::Error),
    /// The system has no randomness.
    #[error("no random bytes from the system: {0}")]
    Random(String),
}

impl WatchError {
    /// Another attempt may go better.
    pub fn may_pass(&self) -> bool {
        match self {
            WatchError::Server(error) => error.may_pass(),
            WatchError::Transport(_) | WatchError::Ended | WatchError::Lost => true,
            _ => false,
        }
    }
}
