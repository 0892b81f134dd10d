//! Session negotiation by SDP offer and answer (RFC 8829, RFC 3264).
//!
//! `rtc-sdp` parses and prints lines; this module decides what they mean. Supported is one section of video and one of
//! audio, bundled on one transport (RFC 9143) with RTCP multiplexed with RTP (RFC 5761), in one direction: this
//! endpoint sends or receives. Anything else in an offer is rejected, section by section, with the reason returned
//! along with the answer.
//!
//! ```text
//! Capabilities + Local -- offer() ---------> Offer { text } -- accept(answer) --> Accepted { remote, media, .. }
//!                      -- answer(offer) ---> Answer { text, remote, media, .. }
//! ```
//!
//! The same arguments give the same text: identifiers and credentials come from [`Local`].

mod accept;
mod answer;
mod av1;
mod capabilities;
mod choose;
mod error;
pub mod fragment;
mod h264;
mod local;
mod negotiate;
mod negotiated;
mod offer;
mod read;
mod write;

pub use accept::Accepted;
pub use answer::{Answer, answer};
pub use av1::Av1Format;
pub use capabilities::{Capabilities, CongestionFeedback, Direction, VideoCodec};
pub use error::{Place, Refusal, SdpError};
pub use h264::{H264Format, H264Profile, UnknownProfile};
pub use local::{Local, StreamIds, host_candidates};
pub use negotiated::{Audio, ExtensionIds, Feedback, Negotiated, Redundancy, Ssrcs, Video};
pub use offer::{Offer, offer};

/// Max size of an SDP in bytes; Chromium's offers with every codec and candidate are about 10 kB.
pub const MAX_BYTES: usize = 64 * 1024;

/// Max number of sections of an SDP; each must be answered.
pub const MAX_SECTIONS: usize = 32;

/// Max number of the peer's candidates; a browser has one per address and a few from servers.
const MAX_CANDIDATES: usize = 64;

#[cfg(test)]
mod tests;
