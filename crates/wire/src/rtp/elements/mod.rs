//! The data of the header extensions that a sender uses.

mod bytes_before;
mod fragment_grace;
mod frame_states;
mod playout_delay;
mod send_time;
mod transport_sequence;

pub use bytes_before::BytesBefore;
pub use fragment_grace::{FragmentGrace, FrameFragment};
pub use frame_states::FrameStates;
pub use playout_delay::PlayoutDelay;
pub use send_time::AbsoluteSendTime;
pub use transport_sequence::{FeedbackRequest, TransportSequence};

use crate::ParseError;

/// URIs of header extensions in SDP.
pub mod uri {
    /// Transport-wide sequence number with periodic feedback ([`super::TransportSequence`] without a request).
    pub const TRANSPORT_CC_01: &str = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01";
    /// Transport-wide sequence number with feedback on request.
    pub const TRANSPORT_CC_02: &str = "http://www.webrtc.org/experiments/rtp-hdrext/transport-wide-cc-02";
    /// [`super::AbsoluteSendTime`].
    pub const ABSOLUTE_SEND_TIME: &str = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time";
    /// [`super::PlayoutDelay`].
    pub const PLAYOUT_DELAY: &str = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay";
    /// The media section's id of a packet, as text (RFC 9143).
    pub const MID: &str = "urn:ietf:params:rtp-hdrext:sdes:mid";
    /// [`super::super::dependency::DependencyDescriptor`].
    pub const DEPENDENCY_DESCRIPTOR: &str =
        "https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension";
    /// [`super::FragmentGrace`]. This URI and those below are defined by this project and not registered: a peer that
    /// does not know them omits them from its answer, and they are then not sent.
    pub const FRAGMENT_GRACE: &str = "urn:x-thalweg:rtp-hdrext:fragment-grace";
    /// [`super::FrameStates`].
    pub const FRAME_STATES: &str = "urn:x-thalweg:rtp-hdrext:frame-states";
    /// [`super::BytesBefore`].
    pub const BYTES_BEFORE: &str = "urn:x-thalweg:rtp-hdrext:bytes-before";
}

fn wrong_length(what: &'static str, data: &[u8], min: u64, max: u64) -> ParseError {
    ParseError::OutOfRange { what, at: 0, found: data.len() as u64, min, max }
}
