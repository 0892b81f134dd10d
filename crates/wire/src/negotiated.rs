//! Properties of a stream negotiated by SDP, as both signalling and receiver need them.

/// Ids of header extensions (RFC 8285), 1 to 14 or 16 to 255; `None`: not negotiated, must not be sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExtensionIds {
    /// Transport-wide sequence number, with or without feedback requests ([`crate::rtp::TransportSequence`]).
    pub transport_sequence: Option<u8>,
    /// True for the variant with requests (`transport-wide-cc-02`): feedback on request.
    pub transport_on_request: bool,
    /// Playout delay requested from the receiver.
    pub playout_delay: Option<u8>,
    /// The media section of a packet, MID (RFC 9143).
    pub mid: Option<u8>,
    /// Absolute send time, which FEC does not cover.
    pub absolute_send_time: Option<u8>,
    /// Functional video: grace period and fragment ([`crate::rtp::FragmentGrace`]).
    pub grace: Option<u8>,
    /// Functional video: decoder states ([`crate::rtp::FrameStates`]).
    pub states: Option<u8>,
    /// References of frames in layers ([`crate::rtp::dependency::DependencyDescriptor`]).
    pub dependencies: Option<u8>,
    /// Bytes sent before a packet ([`crate::rtp::BytesBefore`]).
    pub bytes_before: Option<u8>,
}

/// The feedback a receiver sends (`a=rtcp-fb`, RFC 4585, except extended reports).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Feedback {
    /// Missing packets (`nack`).
    pub nack: bool,
    /// Picture loss (`nack pli`), which requests a keyframe.
    pub pli: bool,
    /// Full intra request (`ccm fir`, RFC 5104), used where there is no PLI.
    pub fir: bool,
    /// Arrivals by transport-wide sequence number (`transport-cc`); [`ExtensionIds::transport_on_request`] selects the
    /// variant.
    pub transport: bool,
    /// Arrivals by stream (`ack ccfb`, RFC 8888), which excludes the other arrival reports.
    pub congestion: bool,
    /// Sends such a report as soon as a frame has arrived (`ack app frame`), as a sender that marks lower needs it;
    /// specific to this project, and nothing without [`Feedback::congestion`].
    pub frames: bool,
    /// The receiver's own bandwidth estimate (`goog-remb`).
    pub bitrate: bool,
    /// Arrivals by stream in extended reports (`a=rtcp-xr`, per section, not per payload type: RFC 3611 section 5),
    /// where neither of the two above was negotiated.
    pub extended: bool,
    /// Report times that the sender echoes, so that the receiver can measure the round-trip time (RFC 3611; `rrtr` as
    /// libwebrtc names it).
    pub round_trip: bool,
    /// The receiver's path measurements (`ack app path`, [`crate::rtcp::PathReport`]); specific to this project.
    pub path: bool,
}

/// RED (RFC 2198) with ULPFEC in it (RFC 5109), in the media stream and its sequence numbers. Optional for the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redundancy {
    /// Payload type of RED packets, which carry media or FEC.
    pub red: u8,
    /// Payload type of ULPFEC inside RED.
    pub ulpfec: u8,
    /// Payload type of retransmissions of RED packets (RFC 4588), in the retransmission stream; only where media has
    /// retransmissions too.
    pub retransmission: Option<u8>,
}

/// SSRCs of a media section. `None` if there is no such stream, or SDP does not name it: its packets are then
/// identified by payload type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ssrcs {
    /// Media.
    pub media: Option<u32>,
    /// Its retransmissions (`a=ssrc-group:FID`).
    pub retransmission: Option<u32>,
    /// Its FEC packets (`a=ssrc-group:FEC-FR`).
    pub fec: Option<u32>,
}
