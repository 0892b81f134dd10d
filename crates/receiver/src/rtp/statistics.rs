//! What was counted.

use thalweg_control::PathReport;
use thalweg_units::Span;

/// Of one RTP stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StreamCounts {
    /// Its SSRC, once known.
    pub ssrc: Option<u32>,
    /// Packets that came, copies included.
    pub received: u64,
    /// Packets that did not, below zero if copies came (RFC 3550 appendix A.3).
    pub lost: i64,
    /// How much the spacing of its packets varies (RFC 3550 appendix A.8).
    pub jitter: Span,
}

/// Of a video's frames and packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VideoCounts {
    /// Frames given out.
    pub frames: u64,
    /// Those of them that refer to no other.
    pub keyframes: u64,
    /// Frames of which something came and that were given up.
    pub abandoned: u64,
    /// Packets that were missing and came again.
    pub retransmitted: u64,
    /// Packets that were missing and were recovered by FEC.
    pub recovered: u64,
    /// Packets that had been here already.
    pub twice: u64,
    /// Packets of frames that were given up, or far from anything that came.
    pub late: u64,
    /// Packets and frames that are none of the codec.
    pub malformed: u64,
    /// How often packets were asked for, each counted as often as it was.
    pub asked_for: u64,
    /// How often a keyframe was.
    pub keyframes_requested: u64,
}

impl VideoCounts {
    /// Both together.
    pub(super) fn plus(self, other: VideoCounts) -> VideoCounts {
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

/// Of audio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AudioCounts {
    /// Packets given out.
    pub packets: u64,
    /// Packets given up.
    pub lost: u64,
    /// Packets that came twice or after they were given up.
    pub late: u64,
}

/// Of everything that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// The video's stream.
    pub video_stream: StreamCounts,
    /// The stream of its retransmissions, padding included.
    pub retransmission_stream: StreamCounts,
    /// The stream of its FEC.
    pub fec_stream: StreamCounts,
    /// The audio's stream.
    pub audio_stream: StreamCounts,
    /// The video's frames.
    pub video: VideoCounts,
    /// The audio's packets.
    pub audio: AudioCounts,
    /// Packets of the video's stream that carried FEC, in RED.
    pub fec_in_red: u64,
    /// Packets of nothing but padding, of any stream.
    pub padding: u64,
    /// Packets that are no RTP, and datagrams that are no RTCP.
    pub malformed: u64,
    /// Packets of no stream that was agreed on.
    pub unknown: u64,
    /// RTCP datagrams that came.
    pub rtcp_received: u64,
    /// RTCP datagrams that left.
    pub rtcp_sent: u64,
    /// The round trip, once it is known.
    pub round_trip: Option<Span>,
    /// What was reported of the path last, where it is measured.
    pub path: Option<PathReport>,
}
