//! Agreeing on a session: what is sent, how it is written, and where to (RFC 8829, RFC 3264).
//!
//! The reading and printing of lines is `rtc-sdp`'s; what the lines mean is decided here. One section of video and one
//! of audio, bundled on one transport (RFC 9143) with RTCP beside RTP (RFC 5761), in one direction: an end of ours sends
//! or receives. Whatever else is offered is refused, section by section, with the reason beside the answer.
//!
//! ```text
//! Capabilities + Local -- offer() ---------> Offer { text } -- accept(answer) --> Accepted { remote, media, .. }
//!                      -- answer(offer) ---> Answer { text, remote, media, .. }
//! ```
//!
//! The same arguments give the same text: identifiers and credentials come with [`Local`].

mod accept;
mod answer;
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
pub use capabilities::{Capabilities, CongestionFeedback, Direction, VideoCodec};
pub use error::{Place, Refusal, SdpError};
pub use h264::{H264Format, H264Profile, UnknownProfile};
pub use local::{Local, StreamIds, host_candidates};
pub use negotiated::{Audio, ExtensionIds, Feedback, Negotiated, Redundancy, Ssrcs, Video};
pub use offer::{Offer, offer};

/// Most bytes of an SDP that are read; Chromium's offers with every codec and candidate are about 10 kB.
pub const MAX_BYTES: usize = 64 * 1024;

/// Most sections of an SDP that are read; each must be answered.
pub const MAX_SECTIONS: usize = 32;

/// Most candidates of the peer that are read; a browser has one for each address and a few of servers.
const MAX_CANDIDATES: usize = 64;

#[cfg(test)]
mod tests;
