//! Outputs of a reception.

use std::ops::RangeInclusive;

use thalweg_units::Time;

use crate::Moves;

/// Task for the caller.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Send this RTCP.
    Rtcp(Vec<u8>),
    /// Decode this frame.
    Frame(VideoFrame),
    /// Decode this audio.
    Audio(AudioPacket),
    /// This many frames of which some packets arrived were abandoned.
    Abandoned(u64),
    /// Nothing to do until the next packet or this time ([`Time::NEVER`] if there is none).
    Wait {
        /// When to call [`Reception::on_timeout`](super::Reception::on_timeout).
        until: Time,
    },
}

/// How a packet was obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// As originally sent.
    Media,
    /// By retransmission.
    Retransmission,
    /// Recovered by FEC.
    Fec,
}

/// A complete video frame, or, if the receiver keeps states and shows damaged frames, the part of one that arrived.
#[derive(Debug, Clone, PartialEq)]
pub struct VideoFrame {
    /// Counts the delivered frames, from 0.
    pub number: u64,
    /// The encoder's frame number, if packets carry it (functional video).
    pub frame: Option<u64>,
    /// The picture id of the payload's descriptor, 7 or 15 bits.
    pub picture: Option<u16>,
    /// The encoded frame.
    pub data: Vec<u8>,
    /// True for a keyframe.
    pub keyframe: bool,
    /// Its unwrapped RTP timestamp, 90 kHz: the first one received is in the second cycle of 32 bits.
    pub timestamp: u64,
    /// Its capture time by the sender's clock, once a sender report was received; counted from zero of that clock's NTP
    /// time.
    pub captured: Option<Time>,
    /// The unwrapped RTP sequence numbers of its packets.
    pub sequences: RangeInclusive<u64>,
    /// Arrival time of its first packet.
    pub first_arrival: Time,
    /// Arrival time of its last packet.
    pub last_arrival: Time,
    /// Number of its packets that were retransmitted.
    pub retransmitted: u16,
    /// Number of its packets that were recovered by FEC.
    pub recovered: u16,
    /// Changes to the decoder's states; `None` for a decoder with one state that goes from frame to frame.
    pub moves: Option<Moves>,
}

/// An audio packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AudioPacket {
    /// The Opus packet to decode.
    pub data: Vec<u8>,
    /// Its unwrapped RTP sequence number.
    pub sequence: u64,
    /// Its unwrapped RTP timestamp, 48 kHz: the first one received is in the second cycle of 32 bits.
    pub timestamp: u64,
    /// True if a talkspurt begins with it (RFC 7587 section 4.1).
    pub marker: bool,
    /// Number of lost packets between the previous one and this; 0 where the stream restarted.
    pub lost: u64,
    /// Its capture time by the sender's clock, as for video.
    pub captured: Option<Time>,
    /// Arrival time.
    pub arrived: Time,
}
