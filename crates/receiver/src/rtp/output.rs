//! What comes out of a reception.

use std::ops::RangeInclusive;

use thalweg_units::Time;

use crate::Moves;

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Send this RTCP.
    Rtcp(Vec<u8>),
    /// Decode this frame.
    Frame(VideoFrame),
    /// Decode this audio.
    Audio(AudioPacket),
    /// As many frames, of which something came, will not come out any more.
    Abandoned(u64),
    /// Nothing, until something comes or this instant does ([`Time::NEVER`] if there is none).
    Wait {
        /// When [`Reception::on_timeout`](super::Reception::on_timeout) has something to do.
        until: Time,
    },
}

/// How a packet came to be here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// As it was sent.
    Media,
    /// It was retransmitted.
    Retransmission,
    /// It was recovered by FEC.
    Fec,
}

/// A whole video frame, or, where the receiver keeps states and shows damage, what of one has come.
#[derive(Debug, Clone, PartialEq)]
pub struct VideoFrame {
    /// Counts the frames that came out, from 0.
    pub number: u64,
    /// The encoder's number of it, where packets tell (functional video).
    pub frame: Option<u64>,
    /// The picture id of the payload's descriptor, 7 or 15 bits.
    pub picture: Option<u16>,
    /// The encoded frame.
    pub data: Vec<u8>,
    /// Whether it refers to no other.
    pub keyframe: bool,
    /// Its RTP timestamp, 90 kHz, without end: the first one that came lies in the second turn of 32 bits.
    pub timestamp: u64,
    /// When it was captured, by the sender's clock, once a sender report has said so; counted from where that clock's NTP time is zero.
    pub captured: Option<Time>,
    /// The RTP sequence numbers of its packets, without end.
    pub sequences: RangeInclusive<u64>,
    /// When the first of its packets came ...
    pub first_arrival: Time,
    /// ... and when the last one did.
    pub last_arrival: Time,
    /// How many of its packets were retransmitted.
    pub retransmitted: u16,
    /// How many of its packets were recovered by FEC.
    pub recovered: u16,
    /// What happens to the decoder's states; `None` where it has but one and goes from frame to frame.
    pub moves: Option<Moves>,
}

/// A packet of audio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AudioPacket {
    /// What is to be decoded: a packet of Opus.
    pub data: Vec<u8>,
    /// Its RTP sequence number, without end.
    pub sequence: u64,
    /// Its RTP timestamp, 48 kHz, without end: the first one that came lies in the second turn of 32 bits.
    pub timestamp: u64,
    /// Whether talk begins with it (RFC 7587 section 4.1).
    pub marker: bool,
    /// How many packets between the one before and this did not come; none where the stream began anew.
    pub lost: u64,
    /// When it was captured, by the sender's clock, as of video.
    pub captured: Option<Time>,
    /// When it came.
    pub arrived: Time,
}
