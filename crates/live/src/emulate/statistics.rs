//! What an emulated link did.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use thalweg_link::DropReason;
use thalweg_units::{Bytes, Span};

use crate::reactor::Lateness;

/// What one direction of a link did.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DirectionStatistics {
    /// Packets that came.
    pub packets: u64,
    /// Their sizes, from the IP header upwards.
    pub bytes: Bytes,
    /// Packets that left the link.
    pub delivered: u64,
    /// Their sizes.
    pub delivered_bytes: Bytes,
    /// Packets the link dropped, by reason.
    pub dropped: BTreeMap<DropReason, u64>,
    /// Packets the emulator dropped because the link held as much as it may hold in memory: not something a real link
    /// does.
    pub overflowed: u64,
    /// What is on the way now.
    pub inside: Bytes,
    /// How long packets that left waited in queues.
    pub queued: Lateness,
    /// How much later than due packets were passed on.
    pub lateness: Lateness,
    /// Why the log stopped, if it did.
    pub log_error: Option<String>,
}

/// What a link did.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Statistics {
    /// Since time zero.
    pub duration: Span,
    /// [`Way::Up`](super::Way::Up).
    pub up: DirectionStatistics,
    /// The other way.
    pub down: DirectionStatistics,
    /// Clients there are now.
    pub clients: usize,
    /// Clients there have been.
    pub clients_ever: u64,
    /// Datagrams from those that would have been too many, or that the system had no socket for.
    pub refused: u64,
    /// Packets that left the link when their client was no more.
    pub orphaned: u64,
    /// Packets the system did not take, or that were no IPv4 in a shell.
    pub unsent: u64,
    /// Datagrams that came while the system's buffers were full.
    pub missed: u64,
    /// Times the server's machine said that nobody listens there.
    pub unreachable: u64,
}

impl Statistics {
    /// As one JSON object; durations in ms where the name says so and in us of lateness.
    pub fn json(&self) -> Value {
        json!({
            "seconds": self.duration.as_secs_f64(),
            "up": direction(&self.up, self.duration),
            "down": direction(&self.down, self.duration),
            "clients": self.clients_ever,
            "refused": self.refused,
            "orphaned": self.orphaned,
            "unsent": self.unsent,
            "missed": self.missed,
            "unreachable": self.unreachable,
        })
    }
}

/// A reason's name, as scenario files write names.
pub(super) fn name(why: DropReason) -> &'static str {
    match why {
        DropReason::QueueFull => "queue-full",
        DropReason::QueueManaged => "queue-managed",
        DropReason::Lost => "lost",
        DropReason::LinkOff => "link-off",
    }
}

fn direction(direction: &DirectionStatistics, duration: Span) -> Value {
    let dropped: BTreeMap<&str, u64> = direction.dropped.iter().map(|(why, count)| (name(*why), *count)).collect();
    let millis = |share| direction.queued.percentile(share).map(|span| span.as_millis_f64());
    let micros = |share| direction.lateness.percentile(share).map(|span| span.as_millis_f64() * 1e3);
    json!({
        "packets": direction.packets,
        "bytes": direction.bytes.get(),
        "delivered": direction.delivered,
        "delivered_bytes": direction.delivered_bytes.get(),
        "delivered_mbps": direction.delivered_bytes.per(duration).as_mbps_f64(),
        "dropped": dropped,
        "overflowed": direction.overflowed,
        "inside_bytes": direction.inside.get(),
        "queueing_p50_ms": millis(0.5),
        "queueing_p95_ms": millis(0.95),
        "lateness_p50_us": micros(0.5),
        "lateness_p95_us": micros(0.95),
        "lateness_p99_us": micros(0.99),
        "lateness_max_us": direction.lateness.max().as_millis_f64() * 1e3,
        "log_error": direction.log_error,
    })
}
