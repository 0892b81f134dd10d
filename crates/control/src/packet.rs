//! A packet, as seen by congestion control.

use core::fmt;

use thalweg_units::{Bytes, Ecn, Time};

/// The segment size that window arithmetic counts in, in wire bytes (specs: "MSS 1500 B on the wire unless said").
pub const MSS: Bytes = Bytes::new(1500);

/// The position of a packet in the order of everything sent on a path, from 0: the transport-wide sequence number
/// before it is cut to 16 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct PacketId(pub u64);

impl fmt::Display for PacketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// Purpose of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Payload {
    /// Part of a frame, sent for the first time.
    Media,
    /// Nothing that the receiver needs: it keeps the path full or measures it.
    Padding,
    /// A retransmission or redundancy.
    Repair,
    /// Audio. It is sent along with the video and never waits in a queue.
    Audio,
}

impl Payload {
    /// All kinds, in the order of their declaration.
    pub const ALL: [Payload; 4] = [Payload::Media, Payload::Padding, Payload::Repair, Payload::Audio];

    /// The name in records, logs and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Payload::Media => "media",
            Payload::Padding => "padding",
            Payload::Repair => "repair",
            Payload::Audio => "audio",
        }
    }
}

/// The position of a packet in a frame (or in a burst of a frame).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FramePlace {
    /// The frame's number, from 0 in order of encoding.
    pub frame: u64,
    /// True for the frame's first packet.
    pub first: bool,
    /// True for the frame's last packet.
    pub last: bool,
    /// Bytes of the frame that were sent before it.
    pub offset: Bytes,
    /// When its picture was captured: the time that its RTP timestamp carries.
    pub captured: Time,
    /// True if the frame references no other frame.
    pub keyframe: bool,
}

/// A packet that has left the sender, with the state of the flow at that moment. Make one with [`SentPacket::new`] and
/// set the other known fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SentPacket {
    /// Its position in the order of sending.
    pub id: PacketId,
    /// When the pacer released it.
    pub at: Time,
    /// Its size on the wire, from the IP header upwards.
    pub size: Bytes,
    /// Its ECN field as it was sent.
    pub ecn: Ecn,
    /// The purpose of its payload.
    pub payload: Payload,
    /// The probe cluster it belongs to, if any; media may be part of one.
    pub probe: Option<u32>,
    /// Its position in a frame; `None` for padding.
    pub place: Option<FramePlace>,
    /// Bytes sent and neither acknowledged nor declared lost, this packet included.
    pub in_flight: Bytes,
    /// Bytes acknowledged on the path so far.
    pub delivered: Bytes,
    /// When the newest of those bytes was acknowledged; before the first acknowledgement, the sending time.
    pub delivered_at: Time,
    /// True if the application, not the window, limited sending right after this packet.
    pub app_limited: bool,
}

impl SentPacket {
    /// A media packet outside a probe and a frame, not limited by the application. The history fills in the other
    /// fields ([`History::on_sent`](crate::History::on_sent)).
    pub fn new(id: PacketId, at: Time, size: Bytes) -> SentPacket {
        SentPacket {
            id,
            at,
            size,
            ecn: Ecn::NotCapable,
            payload: Payload::Media,
            probe: None,
            place: None,
            in_flight: Bytes::ZERO,
            delivered: Bytes::ZERO,
            delivered_at: Time::ZERO,
            app_limited: false,
        }
    }
}
