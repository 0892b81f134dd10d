//! Why a scenario could not be played on real sockets.

use thalweg_emulate::EmulateError;
use thalweg_lab::simulate::SimulateError;
use thalweg_live::blackbox::BlackBoxError;
use thalweg_session::outgoing::SetupError;
use thalweg_transport::TransportError;
use thalweg_transport::sdp::SdpError;
use thalweg_units::ConfigError;

/// Why a scenario could not be played on real sockets.
#[derive(Debug, thiserror::Error)]
pub enum RealTimeError {
    /// The simulator could not play it either, or it needs something that only the simulator has.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// A parameter is out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The link cannot be built.
    #[error("link: {0}")]
    Link(#[from] EmulateError),
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
    /// A call of another program failed.
    #[error(transparent)]
    BlackBox(BlackBoxError),
    /// A system call failed.
    #[error("{0}")]
    System(#[from] std::io::Error),
}

impl From<BlackBoxError> for RealTimeError {
    fn from(error: BlackBoxError) -> RealTimeError {
        match error {
            BlackBoxError::Interrupted => RealTimeError::Simulate(SimulateError::Interrupted),
            error => RealTimeError::BlackBox(error),
        }
    }
}
