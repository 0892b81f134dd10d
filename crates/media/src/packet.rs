//! What goes on the wire, before it is bytes.

use thalweg_control::SentPacket;
use thalweg_units::{Bytes, Span, Time};

use crate::protected::Protected;
use crate::state::Transition;

/// A piece of an encoded frame: the place of one packet's payload in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment {
    /// The frame's number, from 0 in order of encoding.
    pub frame: u64,
    /// The number of the picture it was made from, from 0 in order of capture.
    pub picture: u64,
    /// When the picture was read from the camera.
    pub captured: Time,
    /// Which of the frame's fragments, from 0.
    pub index: u16,
    /// How many fragments the frame has.
    pub count: u16,
    /// Where its bytes begin in the frame.
    pub offset: u32,
    /// How many of the frame's bytes it carries.
    pub length: u32,
    /// Whether the frame refers to no other.
    pub keyframe: bool,
    /// Its temporal layer; 0 is the base, which refers to no other.
    pub layer: u8,
    /// The frame that must be decoded before this one; `None` for keyframes.
    pub depends_on: Option<u64>,
    /// The decoder's states before and after the frame, if its encoder knows them.
    pub transition: Option<Transition>,
}

/// What a packet carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A fragment of a frame under its place in the media stream (the RTP sequence number before it is cut to 16 bits).
    Media {
        /// Order of media packets, without gaps: given when a packet leaves, so packets flushed from the queue leave none.
        sequence: u64,
        /// What it carries.
        fragment: Fragment,
    },
    /// A media packet again (RFC 4588).
    Retransmission {
        /// The media packet it retransmits.
        of: u64,
        /// What it carries.
        fragment: Fragment,
    },
    /// The XOR of media packets, from which the receiver recovers one that it misses if it has all others (FlexFEC, ULPFEC). Their bytes are
    /// with whoever writes the packet.
    Fec {
        /// Which media packets.
        protects: Protected,
    },
    /// An audio packet.
    Audio {
        /// The number its driver knows it by.
        number: u64,
        /// Its payload bytes.
        length: u32,
    },
    /// Nothing: a dummy (Vidaptive) or probe padding. Acknowledged, never retransmitted, never shown to the jitter buffer.
    Padding,
}

/// A packet that leaves now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// The packet as congestion control sees it.
    pub sent: SentPacket,
    /// How long before it the last packet left: the grace period, for receivers that measure the time between arrivals (Salsify
    /// section 3.2); zero for the first.
    pub grace: Span,
    /// H: everything that left before it, on the wire, for receivers that tell loss from backlog by it (Rebera).
    pub before: Bytes,
    /// Whether the receiver is asked to report at once, where it reports on request: what ends a burst does, and where a controller
    /// measures bursts, also what begins one and what the window lets nothing follow (docs/papers/camel.md).
    pub requests_feedback: bool,
    /// What it carries.
    pub content: Content,
}
