//! Diagnostics of an engine beside its limits.

use thalweg_sender::Engine;

use crate::clock::THALWEG_NEVER;
use crate::sized::Structure;

/// Diagnostics of an engine: smoothed RTT, bytes in flight, queue, loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct EngineStats {
    /// sizeof(thalweg_sender_stats).
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// Smoothed round trip, ns; 100 ms before the first.
    pub srtt: i64,
    /// The newest round trip without the wait for its report, ns; 100 ms before the first.
    pub path_rtt: i64,
    /// Bytes sent and neither acknowledged nor lost.
    pub in_flight: u64,
    /// Bytes that wait to be sent, from the IP header up.
    pub queued: u64,
    /// Packets that wait to be sent.
    pub queued_packets: u64,
    /// The oldest media packet that may still be retransmitted: its payload is needed as long. THALWEG_NEVER where
    /// nothing is.
    pub retransmits_from: u64,
}

// SAFETY: numbers without gaps.
unsafe impl Structure for EngineStats {
    const NAME: &'static str = "thalweg_sender_stats";
    const DEFAULT: EngineStats = EngineStats {
        size: size_of::<EngineStats>() as u32,
        reserved: 0,
        srtt: 0,
        path_rtt: 0,
        in_flight: 0,
        queued: 0,
        queued_packets: 0,
        retransmits_from: THALWEG_NEVER,
    };
}

impl EngineStats {
    pub(super) fn new(engine: &Engine) -> EngineStats {
        let view = engine.view();
        EngineStats {
            srtt: engine.srtt().as_nanos(),
            path_rtt: engine.path_rtt().as_nanos(),
            in_flight: view.in_flight.get(),
            queued: view.queue.bytes.get(),
            queued_packets: view.queue.packets,
            retransmits_from: engine.retransmits_from().unwrap_or(THALWEG_NEVER),
            ..EngineStats::DEFAULT
        }
    }
}
