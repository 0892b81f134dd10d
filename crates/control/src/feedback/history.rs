//! The history of what was sent.

use thalweg_units::{Bytes, Span, Time};

use super::{Acknowledgement, Feedback};
use crate::packet::SentPacket;

/// When a packet counts as lost.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// A packet is lost once this many packets sent after it have arrived (RFC 9002 section 6.1.1).
    pub reorder_packets: u64,
    /// Everything in flight is lost when nothing was heard for the larger of this and `silence_rtts` smoothed round trips.
    pub silence: Span,
    /// See `silence`.
    pub silence_rtts: i64,
}

impl Default for Config {
    fn default() -> Config {
        Config { reorder_packets: 3, silence: Span::from_secs(2), silence_rtts: 4 }
    }
}

/// Remembers every packet sent until its fate is known, and keeps the accounts that all controllers share: bytes in flight,
/// bytes delivered, round-trip times.
#[derive(Debug)]
pub struct History {}

impl History {
    /// An empty history.
    pub fn new(config: Config) -> History {
        let _ = config;
        History {}
    }

    /// Notes a packet as it leaves and fills in its `in_flight`, `delivered` and `delivered_at`.
    pub fn on_sent(&mut self, packet: SentPacket) -> SentPacket {
        packet
    }

    /// Takes in what a report says; `hold` is how long the receiver held the newest packet's report, where known.
    pub fn on_report(&mut self, now: Time, acknowledgements: &[Acknowledgement], hold: Option<Span>) -> Feedback<'_> {
        let _ = (now, acknowledgements, hold);
        unimplemented!("helper: control core")
    }

    /// When [`History::on_timeout`] wants to be called.
    pub fn next_timeout(&self) -> Time {
        Time::NEVER
    }

    /// Declares everything in flight lost if nothing was heard for too long.
    pub fn on_timeout(&mut self, now: Time) -> Option<Feedback<'_>> {
        let _ = now;
        None
    }

    /// Bytes sent and neither acknowledged nor declared lost.
    pub fn in_flight(&self) -> Bytes {
        Bytes::ZERO
    }

    /// Smoothed round-trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Span> {
        None
    }
}
