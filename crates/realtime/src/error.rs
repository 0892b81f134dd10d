//! Why a scenario could not be played on real sockets.

use thalweg_codecs::{DecodeError, EncodeError};
use thalweg_live::emulate::EmulateError;
use thalweg_session::outgoing::SetupError;
use thalweg_transport::TransportError;
use thalweg_transport::sdp::SdpError;
use thalweg_units::ConfigError;
use thalweg_video::source::SourceError;

/// Why a scenario could not be played on real sockets.
#[derive(Debug, thiserror::Error)]
pub enum RealTimeError {
    /// It needs something that only the simulator has, or a value is out of range.
    #[error("{0}")]
    Scenario(String),
    /// A parameter is out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The link cannot be built.
    #[error("link: {0}")]
    Link(#[from] EmulateError),
    /// The capacity of the path cannot be determined.
    #[error("path: {0}")]
    Path(String),
    /// The video cannot be read.
    #[error("video: {0}")]
    Video(#[from] SourceError),
    /// The encoder refused.
    #[error("encoder: {0}")]
    Encode(#[from] EncodeError),
    /// The decoder refused a complete frame.
    #[error("decoder: {0}")]
    Decode(#[from] DecodeError),
    /// Offer and answer have nothing in common.
    #[error("SDP: {0}")]
    Signalling(#[from] SdpError),
    /// There is no sender for what was negotiated.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The connection failed.
    #[error("connection: {0}")]
    Connection(#[from] TransportError),
    /// The handshake timed out, a peer closed the connection, or a thread panicked.
    #[error("{0}")]
    Failed(String),
    /// A system call failed.
    #[error("{0}")]
    System(#[from] std::io::Error),
}
