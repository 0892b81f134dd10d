//! Packets before they are written as bytes.

use thalweg_control::SentPacket;
use thalweg_units::{Bytes, Span, Time};

use crate::protected::Protected;
use crate::state::Transition;

/// A fragment of an encoded frame: the part that one packet carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment {
    /// The frame's number, from 0 in order of encoding.
    pub frame: u64,
    /// The number of the picture it was made from, from 0 in order of capture.
    pub picture: u64,
    /// When the picture was read from the camera.
    pub captured: Time,
    /// The index of the fragment in its frame, from 0.
    pub index: u16,
    /// How many fragments the frame has.
    pub count: u16,
    /// The offset of its bytes in the frame.
    pub offset: u32,
    /// The number of its bytes.
    pub length: u32,
    /// True if the frame refers to no other.
    pub keyframe: bool,
    /// Its temporal layer; 0 is the base, which refers to no other layer.
    pub layer: u8,
    /// The frame that must be decoded before this one; `None` for keyframes.
    pub depends_on: Option<u64>,
    /// The decoder's states before and after the frame, if the encoder knows them.
    pub transition: Option<Transition>,
}

/// Content of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A fragment of a frame, with its number in the media stream (the RTP sequence number before truncation to 16
    /// bits).
    Media {
        /// The order of media packets, without gaps: assigned when a packet leaves, so packets flushed from the queue
        /// leave no gap.
        sequence: u64,
        /// The fragment.
        fragment: Fragment,
    },
    /// A retransmission of a media packet (RFC 4588).
    Retransmission {
        /// The number of the media packet that it retransmits.
        of: u64,
        /// The fragment.
        fragment: Fragment,
    },
    /// FEC: the XOR of media packets, from which the receiver recovers one lost packet if it has all others (FlexFEC,
    /// ULPFEC). The component that writes the packet has their bytes.
    Fec {
        /// The media packets that it protects.
        protects: Protected,
    },
    /// An audio packet.
    Audio {
        /// The caller's number for it.
        number: u64,
        /// Its payload bytes.
        length: u32,
    },
    /// Padding without content: a dummy (Vidaptive) or probe padding. Acknowledged, never retransmitted, never passed
    /// to the jitter buffer.
    Padding,
}

/// A packet that leaves now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// The packet as congestion control sees it.
    pub sent: SentPacket,
    /// The time since the previous packet left: the grace period, for receivers that measure the time between arrivals
    /// (Salsify section 3.2); zero for the first.
    pub grace: Span,
    /// H: the wire bytes of all packets sent before it, from which receivers distinguish loss from backlog (Rebera).
    pub before: Bytes,
    /// Asks the receiver to report at once, if it reports on request: set for a packet that ends a burst and, where a
    /// controller measures bursts, also for one that begins a burst and one after which the window is full
    /// (docs/papers/camel.md).
    pub requests_feedback: bool,
    /// Lets its report wait for those of later packets although the receiver reports each packet: the reverse path does
    /// not bear more reports.
    pub report_may_wait: bool,
    /// The content.
    pub content: Content,
}
