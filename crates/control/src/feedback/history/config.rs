//! When the history declares losses and how long it remembers packets.

use thalweg_units::Span;

/// When a packet counts as lost, and how long it is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// A packet is lost once a packet sent this many places after it has arrived (RFC 9002 section 6.1.1).
    pub reorder_packets: u64,
    /// Everything in flight is declared lost when no feedback arrives for the larger of this and
    /// `feedback_timeout_rtts` smoothed round trips (specs/copa.md 9, specs/rocc.md 5).
    pub feedback_timeout: Span,
    /// In smoothed round trips; see `feedback_timeout`.
    pub feedback_timeout_rtts: i64,
    /// How long a lost packet is remembered in case it arrives late: a minute, as libwebrtc remembers sent packets
    /// (transport_feedback_adapter.cc, kSendTimeHistoryWindow). Queues of half a minute do occur on cellular uplinks.
    pub remember: Span,
    /// Max number of packets remembered, so that a receiver that never reports costs bounded memory.
    pub capacity: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            reorder_packets: 3,
            feedback_timeout: Span::from_secs(2),
            feedback_timeout_rtts: 4,
            remember: Span::from_secs(60),
            capacity: 1 << 17,
        }
    }
}
