//! A receiver's feedback, in the sender's own numbers.

use alloc::vec::Vec;

use thalweg_control::{Acknowledgement, PathReport};
use thalweg_units::Span;

use crate::state::StateHash;

/// A receiver's feedback, in the sender's own numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RtcpFeedback {
    /// A report of arrivals.
    Arrivals {
        /// Every packet that the report covers, arrived or not.
        acknowledgements: Vec<Acknowledgement>,
        /// How long the receiver held back the report after the newest packet arrived, if the format has it (RFC 8888
        /// does, transport-wide feedback does not).
        hold: Option<Span>,
    },
    /// These media packets were reported missing.
    Missing(Vec<u64>),
    /// The state of the receiver's decoder.
    Decoder(DecoderReport),
    /// The receiver's own measurement of the path.
    Path(PathReport),
    /// A picture cannot be decoded, and the receiver requests a keyframe.
    KeyframeNeeded,
}

/// A stateful receiver's report on its decoder states (Salsify section 3.2: in each acknowledgement).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecoderReport {
    /// The frame of the newest packet that arrived ...
    pub frame: u64,
    /// ... and the index of the packet's fragment in it.
    pub fragment: u16,
    /// tau: the smoothed time between arrivals, less the sender's own pauses.
    pub interarrival: Span,
    /// The decoder's present state; [`StateHash::UNKNOWN`], or any state that no complete frame led to, after a loss.
    pub current: StateHash,
    /// The states it can go back to, the newest last.
    pub complete: Vec<StateHash>,
}
