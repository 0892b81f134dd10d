//! Why a watcher fails.

use thalweg_transport::TransportError;
use thalweg_transport::sdp::SdpError;
use thalweg_units::ConfigError;

use crate::measure::MeasureError;
use crate::whip::WhipError;

/// Why a watcher cannot start, or has ended.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The server cannot be reached, or refuses the request.
    #[error(transparent)]
    Server(#[from] WhipError),
    /// The server's answer does not fit the offer.
    #[error("the server's answer: {0}")]
    Answer(#[from] SdpError),
    /// The negotiated media cannot be received, or the configuration is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The connection could not be established, or failed.
    #[error("no connection to the publisher: {0}")]
    Transport(#[from] TransportError),
    /// The publisher said goodbye, and no new session is wanted.
    #[error("the publisher ended the session")]
    Ended,
    /// The connection was lost, and no new session is wanted.
    #[error("the connection was lost: nothing is received from the publisher any more")]
    Lost,
    /// Received frames cannot be decoded or written.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// Another system call failed.
    #[error("{0}")]
    System(#[from] std::io::Error),
    /// The system has no random numbers.
    #[error("no random bytes from the system: {0}")]
    Random(String),
}

impl WatchError {
    /// Returns true if another attempt may succeed.
    pub fn may_pass(&self) -> bool {
        match self {
            WatchError::Server(error) => error.may_pass(),
            WatchError::Transport(_) | WatchError::Ended | WatchError::Lost => true,
            _ => false,
        }
    }
}
