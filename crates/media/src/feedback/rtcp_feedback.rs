//! What a receiver reports, in the sender's own numbers.

use alloc::vec::Vec;

use thalweg_control::{Acknowledgement, PathReport};
use thalweg_units::Span;

use crate::state::StateHash;

/// What a receiver says, in the sender's own numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RtcpFeedback {
    /// A report of arrivals.
    Arrivals {
        /// Every packet that the report covers, arrived or not.
        acknowledgements: Vec<Acknowledgement>,
        /// How long the receiver held back the arrival of the newest packet that came, if the format tells (RFC 8888 does,
        /// transport-wide feedback does not).
        hold: Option<Span>,
    },
    /// These media packets are missing.
    Missing(Vec<u64>),
    /// What state the receiver's decoder is in.
    Decoder(DecoderReport),
    /// What the receiver measured of the path.
    Path(PathReport),
    /// A picture cannot be decoded.
    KeyframeNeeded,
}

/// What a receiver that keeps its decoder's states says of them (Salsify section 3.2: in each acknowledgement).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecoderReport {
    /// The frame of the newest packet that came ...
    pub frame: u64,
    /// ... and which of its fragments it was.
    pub fragment: u16,
    /// tau: the smoothed time between arrivals, less the sender's own pauses.
    pub interarrival: Span,
    /// The state the decoder is in; [`StateHash::UNKNOWN`] or any other that no whole frame led to after a loss.
    pub current: StateHash,
    /// The states it can go back to, the newest last.
    pub complete: Vec<StateHash>,
}
