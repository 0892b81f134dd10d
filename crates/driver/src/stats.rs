//! Diagnostics of a driver beside its target.

use thalweg_units::{Bytes, Span};

/// Diagnostics of a driver beside its target: smoothed RTT, bytes in flight, loss.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// True if silence cannot be distinguished from idleness: departures are known only with their fate, and
    /// [`Driver::set_sending`](crate::Driver::set_sending) was not called. The target does not fall then while nothing
    /// is heard.
    pub blind: bool,
    /// How many times lay before an earlier one, or departures after their report.
    pub clock_steps: u64,
    /// How many packets were reported whose keys are unknown: never sent, or forgotten.
    pub unknown: u64,
    /// Bytes on the wire sent and neither acknowledged nor lost; in the joined mode with what was presumably sent since.
    pub in_flight: Bytes,
    /// Smoothed time from sending a packet to feedback on it.
    pub srtt: Option<Span>,
    /// The last round trip without the wait for its report.
    pub path_rtt: Option<Span>,
    /// The share of packets that were lost of those whose fate became known in the last second, 0..=1; `None` before the
    /// first.
    pub loss: Option<f64>,
}
