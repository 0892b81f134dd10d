//! Why a receiver fails.

use std::net::SocketAddr;

use thalweg_transport::TransportError;
use thalweg_units::ConfigError;

use crate::publish::PublishError;
use thalweg_emulate::EmulateError;

/// Why a receiver cannot start, or has ended.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The UDP socket cannot be bound.
    #[error("cannot receive media at {address}: {error}; choose an address of this machine and a free port, or port 0")]
    Bind {
        /// The requested address.
        address: SocketAddr,
        /// The system's error.
        error: std::io::Error,
    },
    /// The machine has no address of the socket's family.
    #[error("{0} is reached at no address: choose one of this machine")]
    Unreachable(SocketAddr),
    /// The link cannot be emulated.
    #[error(transparent)]
    Link(#[from] EmulateError),
    /// The system cannot list its addresses.
    #[error(transparent)]
    Addresses(#[from] PublishError),
    /// The certificate cannot be made.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// Another system call failed.
    #[error("{0}")]
    System(#[from] std::io::Error),
}
