//! Counters of a reception.

use thalweg_control::PathReport;
use thalweg_units::Span;

/// Counters of one RTP stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StreamCounts {
    /// Its SSRC, once known.
    pub ssrc: Option<u32>,
    /// Packets received, duplicates included.
    pub received: u64,
    /// Packets lost, negative if duplicates arrived (RFC 3550 appendix A.3).
    pub lost: i64,
    /// Interarrival jitter (RFC 3550 appendix A.8).
    pub jitter: Span,
}

/// Counters of a video's frames and packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VideoCounts {
    /// Frames delivered.
    pub frames: u64,
    /// Keyframes delivered.
    pub keyframes: u64,
    /// Frames abandoned after some of their packets arrived.
    pub abandoned: u64,
    /// Missing packets that were retransmitted.
    pub retransmitted: u64,
    /// Missing packets that were recovered by FEC.
    pub recovered: u64,
    /// Duplicate packets.
    pub twice: u64,
    /// Packets of abandoned frames, or far from all received ones.
    pub late: u64,
    /// Packets and frames that are invalid for the codec.
    pub malformed: u64,
    /// Packets requested; a packet requested several times counts as often.
    pub asked_for: u64,
    /// Keyframes requested.
    pub keyframes_requested: u64,
}

impl VideoCounts {
    /// The sum of both.
    pub fn plus(self, other: VideoCounts) -> VideoCounts {
        VideoCounts {
            frames: self.frames + other.frames,
            keyframes: self.keyframes + other.keyframes,
            abandoned: self.abandoned + other.abandoned,
            retransmitted: self.retransmitted + other.retransmitted,
            recovered: self.recovered + other.recovered,
            twice: self.twice + other.twice,
            late: self.late + other.late,
            malformed: self.malformed + other.malformed,
            asked_for: self.asked_for + other.asked_for,
            keyframes_requested: self.keyframes_requested + other.keyframes_requested,
        }
    }
}

/// Counters of an audio stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AudioCounts {
    /// Packets delivered.
    pub packets: u64,
    /// Packets given up as lost.
    pub lost: u64,
    /// Packets that were duplicates or arrived after being given up.
    pub late: u64,
}

/// All counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// The video stream.
    pub video_stream: StreamCounts,
    /// The video's retransmission stream, padding included.
    pub retransmission_stream: StreamCounts,
    /// The video's FEC stream.
    pub fec_stream: StreamCounts,
    /// The audio stream.
    pub audio_stream: StreamCounts,
    /// The video's frames.
    pub video: VideoCounts,
    /// The audio's packets.
    pub audio: AudioCounts,
    /// Packets of all four streams by the ECN field they arrived with, in the order of [`Ecn::ALL`](thalweg_units::Ecn::ALL).
    pub by_ecn: [u64; 4],
    /// Packets of the video's retransmission stream among them, padding included.
    pub retransmissions_by_ecn: [u64; 4],
    /// Packets of the video stream that carried FEC, in RED.
    pub fec_in_red: u64,
    /// Padding-only packets, of any stream.
    pub padding: u64,
    /// Packets that are not RTP, and datagrams that are not RTCP.
    pub malformed: u64,
    /// Packets of streams that were not negotiated.
    pub unknown: u64,
    /// RTCP datagrams received.
    pub rtcp_received: u64,
    /// RTCP datagrams sent.
    pub rtcp_sent: u64,
    /// RTCP datagrams that could not be written, or in a conversation not protected; 0 unless something is wrong.
    pub rtcp_unsent: u64,
    /// The round-trip time, once known.
    pub round_trip: Option<Span>,
    /// The last path report, where the path is measured.
    pub path: Option<PathReport>,
}
