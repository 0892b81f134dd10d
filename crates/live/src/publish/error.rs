//! Why a publisher fails.

use std::net::SocketAddr;

use thalweg_codecs::EncodeError;
use thalweg_transport::TransportError;
use thalweg_video::source::SourceError;

use thalweg_emulate::EmulateError;

/// Why nothing can be published.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The video cannot be read, or reading it failed later.
    #[error("video: {0}")]
    Video(#[from] SourceError),
    /// The audio cannot be read.
    #[error("audio: {0}")]
    Audio(SourceError),
    /// The encoder cannot be created.
    #[error("encoder: {0}")]
    Encoder(#[from] EncodeError),
    /// A socket cannot be bound.
    #[error("cannot bind UDP {address}: {error}; choose an address of this machine and a free port, or port 0")]
    Bind {
        /// The requested address.
        address: SocketAddr,
        /// The system's error.
        error: std::io::Error,
    },
    /// Another system call failed.
    #[error("{0}")]
    System(#[from] std::io::Error),
    /// The certificate cannot be created.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The emulated link cannot be built.
    #[error("link: {0}")]
    Link(#[from] EmulateError),
    /// The system has no random numbers.
    #[error("no random bytes from the system: {0}")]
    Random(String),
    /// The configuration is invalid.
    #[error("{0}")]
    Config(String),
    /// A bug in this program: a thread panicked; its message is on standard error.
    #[error("the sending thread panicked")]
    Panicked,
}
