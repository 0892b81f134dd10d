//! What can be wrong before a packet moves.

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
        /// Which: `up` or `down`.
        way: &'static str,
        /// What is wrong, with the value and what is allowed.
        problem: String,
    },
    /// A parameter of the emulator itself is out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The address to listen at is not ours or is taken.
    #[error("cannot listen at {address}: {source}; give an address of this machine and a free port (port 0 takes one)")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the kernel says.
        source: io::Error,
    },
    /// A log cannot be written.
    #[error("cannot write the log {}: {source}", path.display())]
    Log {
        /// Where.
        path: PathBuf,
        /// What the kernel says.
        source: io::Error,
    },
    /// The kernel refused something every program may have.
    #[error("the system refused: {0}")]
    System(#[from] io::Error),
}
