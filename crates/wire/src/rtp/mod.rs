//! RTP packets (RFC 3550 section 5) and their header extensions (RFC 8285).
//!
//! # Functional video
//!
//! [`FragmentGrace`] and [`FrameStates`] carry for each packet what a functional codec and its transport need
//! ("Salsify: Low-Latency Network Video through Tighter Integration between a Video Codec and a Transport Protocol",
//! NSDI 2018; Salsify section 3); the receiver's answer is [`DecoderState`](crate::rtcp::DecoderState). Salsify's
//! authors put 22 bytes in front of each payload (`src/net/packet.cc` of excamera/alfalfa, little-endian): connection
//! u16, source state u32, target state u32, frame u32, fragment u16, fragments u16, grace u32 in microseconds. Here the
//! same information is in header extensions, so that every receiver can read the payload, with these differences:
//!
//! * No connection: the SSRC identifies the sender.
//! * States are hashes of 64 bits. Of 32 bits, at 60 new states a second beside 255 kept ones, two would be taken for
//!   one another with a chance of 1.3 % in each hour.
//! * States are in the first packet of a frame only: without that packet no part of the frame can be decoded.
//! * The grace period has 24 bits; their max stands for anything longer.
//!
//! ```
//! use thalweg_units::Span;
//! use thalweg_wire::rtp::{Extension, ExtensionBuffer, FragmentGrace, FrameFragment, FrameStates};
//!
//! let fragment = FrameFragment { frame: 7, fragment: 0, fragments: 12 };
//! let grace = FragmentGrace { grace: Span::from_millis(33), fragment: Some(fragment) };
//! let states = FrameStates { source: 0x0123, target: 0x4567 };
//! // Ids as SDP has agreed on them.
//! let elements = [
//!     Extension { id: 1, data: &grace.to_bytes()?[..grace.size()] },
//!     Extension { id: 2, data: &states.to_bytes() },
//! ];
//! let block = ExtensionBuffer::of(&elements)?;
//! assert_eq!(block.as_extensions().size(), 36);
//! assert_eq!(block.as_extensions().get(1).map(FragmentGrace::parse), Some(Ok(grace)));
//! # Ok::<(), thalweg_wire::WriteError>(())
//! ```

mod blank;
pub mod dependency;
mod elements;
mod extension;
mod packet;

pub use blank::blank_extensions;
pub use elements::{
    AbsoluteSendTime, BytesBefore, FeedbackRequest, FragmentGrace, FrameFragment, FrameStates, PlayoutDelay,
    TransportSequence, uri,
};
pub use extension::{Extension, ExtensionBuffer, Extensions};
pub(crate) use packet::padding_length;
pub use packet::{Header, Packet};
