//! What SDP negotiates of a stream's bytes, as both the signalling and the receiver need it.

/// Ids of header extensions (RFC 8285), 1 to 14 or 16 to 255; `None`: not negotiated, not to be sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExtensionIds {
    /// Transport-wide sequence number, with requests or without ([`crate::rtp::TransportSequence`]).
    pub transport_sequence: Option<u8>,
    /// Whether it is the kind with requests (`transport-wide-cc-02`): feedback on request.
    pub transport_on_request: bool,
    /// How long the receiver should hold frames.
    pub playout_delay: Option<u8>,
    /// The media section a packet belongs to (RFC 9143).
    pub mid: Option<u8>,
    /// When a packet was sent, which FEC does not cover.
    pub absolute_send_time: Option<u8>,
    /// Functional video: grace period and fragment ([`crate::rtp::FragmentGrace`]).
    pub grace: Option<u8>,
    /// Functional video: states of the decoder ([`crate::rtp::FrameStates`]).
    pub states: Option<u8>,
    /// What frames in layers refer to ([`crate::rtp::dependency::DependencyDescriptor`]).
    pub dependencies: Option<u8>,
    /// How much was sent before a packet ([`crate::rtp::BytesBefore`]).
    pub bytes_before: Option<u8>,
}

/// What a receiver reports (`a=rtcp-fb`, RFC 4585, but for extended reports).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Feedback {
    /// Missing packets (`nack`).
    pub nack: bool,
    /// A picture lost (`nack pli`), which asks for a keyframe.
    pub pli: bool,
    /// A keyframe wanted (`ccm fir`, RFC 5104), where there is no PLI.
    pub fir: bool,
    /// Arrivals by transport-wide number (`transport-cc`); [`ExtensionIds::transport_on_request`] says which kind.
    pub transport: bool,
    /// Arrivals by stream (`ack ccfb`, RFC 8888), and then not the others.
    pub congestion: bool,
    /// The receiver's own estimate (`goog-remb`).
    pub bitrate: bool,
    /// Arrivals by stream in extended reports (`a=rtcp-xr`, of a section and not of a payload type: RFC 3611 section 5), where neither of
    /// the two above was negotiated.
    pub extended: bool,
    /// When reports were sent, which the sender sends back (RFC 3611; `rrtr` as libwebrtc names it): the receiver knows the round trip.
    pub round_trip: bool,
    /// What the receiver measured of the path (`ack app path`, [`crate::rtcp::PathReport`]); known to this project alone.
    pub path: bool,
}

/// RED (RFC 2198) with ULPFEC in it (RFC 5109): packets of the media's stream, numbers included. A sender may use it, and need not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redundancy {
    /// Payload type of packets that carry media, or FEC, in RED.
    pub red: u8,
    /// Payload type of FEC in it.
    pub ulpfec: u8,
    /// Payload type of retransmissions of such packets (RFC 4588), on the stream of retransmissions; only where media has them too.
    pub retransmission: Option<u8>,
}

/// SSRCs of a section. `None` where there is no such stream, or SDP does not name it: its packets are then known by payload type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ssrcs {
    /// Media.
    pub media: Option<u32>,
    /// Retransmissions of it (`a=ssrc-group:FID`).
    pub retransmission: Option<u32>,
    /// FEC packets over it (`a=ssrc-group:FEC-FR`).
    pub fec: Option<u32>,
}
