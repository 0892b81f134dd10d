//! RTP packets (RFC 3550 section 5) and their header extensions (RFC 8285).

mod elements;
mod extension;
mod packet;

pub use elements::{AbsoluteSendTime, FeedbackRequest, PlayoutDelay, TransportSequence, uri};
pub use extension::{Extension, ExtensionBuffer, Extensions};
pub(crate) use packet::padding_length;
pub use packet::{Header, Packet};
