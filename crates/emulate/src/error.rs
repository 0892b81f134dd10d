//! Why a link cannot be emulated.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use thalweg_units::ConfigError;

/// A link cannot be emulated.
#[derive(Debug, thiserror::Error)]
pub enum EmulateError {
    /// A trace was not found, or a parameter of a path is out of range.
    #[error("the {way} path: {problem}")]
    Path {
        /// The direction: `up` or `down`.
        way: &'static str,
        /// The problem, with the value and the allowed range.
        problem: String,
    },
    /// A parameter of the emulator itself is out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The address to listen at is not a local one, or is in use.
    #[error("cannot listen at {address}: {source}; give an address of this machine and a free port (port 0 takes one)")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The kernel's error.
        source: io::Error,
    },
    /// A log cannot be written.
    #[error("cannot write the log {}: {source}", path.display())]
    Log {
        /// The log's path.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// A system call failed that needs no privilege.
    #[error("the system refused: {0}")]
    System(#[from] io::Error),
}
