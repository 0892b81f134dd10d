//! RTP packets (RFC 3550 section 5) and their header extensions (RFC 8285).

mod extension;
mod packet;

pub use extension::{
    AbsoluteSendTime, Extension, ExtensionBuffer, Extensions, FeedbackRequest, PlayoutDelay, TransportSequence, uri,
};
pub(crate) use packet::padding_length;
pub use packet::{Header, Packet};
