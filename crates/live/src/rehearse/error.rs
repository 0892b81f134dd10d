//! Why a scenario could not be played on real sockets.

use thalweg_codecs::{DecodeError, EncodeError};
use thalweg_session::outgoing::SetupError;
use thalweg_transport::TransportError;
use thalweg_transport::sdp::SdpError;
use thalweg_units::ConfigError;
use thalweg_video::source::SourceError;

use crate::emulate::EmulateError;

/// A scenario could not be played on real sockets.
#[derive(Debug, thiserror::Error)]
pub enum RehearseError {
    /// It asks for something only the simulator has, or something that makes no sense.
    #[error("{0}")]
    Scenario(String),
    /// A parameter is out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The link cannot be built.
    #[error("link: {0}")]
    Link(#[from] EmulateError),
    /// The path's capacity cannot be known.
    #[error("path: {0}")]
    Path(String),
    /// The video cannot be read.
    #[error("video: {0}")]
    Video(#[from] SourceError),
    /// The encoder refused.
    #[error("encoder: {0}")]
    Encode(#[from] EncodeError),
    /// The decoder refused a frame that came whole.
    #[error("decoder: {0}")]
    Decode(#[from] DecodeError),
    /// The ends did not agree.
    #[error("SDP: {0}")]
    Signalling(#[from] SdpError),
    /// There is no sender of what was agreed on.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// There is no connection.
    #[error("connection: {0}")]
    Connection(#[from] TransportError),
    /// The connection was not there in time, or broke.
    #[error("{0}")]
    Broken(String),
    /// The system refuses.
    #[error("{0}")]
    System(#[from] std::io::Error),
}
