//! When the history declares losses and probes for feedback, and how long it remembers packets.

use thalweg_units::{ConfigError, Span, above, check};

/// Loss detection: when a packet counts as lost, when the sender probes for feedback, and how long packets are
/// remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// A packet is lost once a packet sent this many places after it has arrived (RFC 9002 section 6.1.1).
    pub reorder_packets: u64,
    /// True if a packet that was overtaken so is lost although no report covered it: where reports name arrivals alone,
    /// that is the only sign of a loss. False where reports name the missing packets too, as TWCC and RFC 8888 do: then it
    /// is the report that is missing, and the packet only leaves the bytes in flight, without a fate
    /// (transport_feedback_adapter.cc).
    pub unreported_are_lost: bool,
    /// Everything in flight is declared lost when no feedback arrives for the larger of this and
    /// `feedback_timeout_rtts` smoothed round trips (specs/copa.md 9, specs/rocc.md 5).
    pub feedback_timeout: Span,
    /// In smoothed round trips; see `feedback_timeout`.
    pub feedback_timeout_rtts: i64,
    /// How many packets may leave in spite of the window at each probe timeout (RFC 9002 section 6.2.4: one or two); 0
    /// for no probe timeout.
    pub probe_packets: u32,
    /// The time between probes doubles with each one that is not answered (RFC 9002 section 6.2.1) up to this, or to
    /// twice the first if that is longer: a video that stands for 200 ms has stalled (Camel section 5.1), so a path that
    /// is back is to be found within that time.
    pub max_probe_interval: Span,
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
            unreported_are_lost: true,
            feedback_timeout: Span::from_secs(2),
            feedback_timeout_rtts: 4,
            probe_packets: 2,
            max_probe_interval: Span::from_millis(200),
            remember: Span::from_secs(60),
            capacity: 1 << 17,
        }
    }
}

impl Config {
    /// Checks that every parameter is in range.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        check("loss_detection.reorder_packets", self.reorder_packets).within(1.., "3")?;
        check("loss_detection.feedback_timeout", self.feedback_timeout).within(above(Span::ZERO), "2s")?;
        check("loss_detection.feedback_timeout_rtts", self.feedback_timeout_rtts).within(0..=1000, "4")?;
        check("loss_detection.probe_packets", self.probe_packets).within(0..=100, "2")?;
        check("loss_detection.max_probe_interval", self.max_probe_interval).within(above(Span::ZERO), "200ms")?;
        check("loss_detection.remember", self.remember).within(above(Span::ZERO), "1m")?;
        check("loss_detection.capacity", self.capacity).within(1.., "131072")
    }
}
