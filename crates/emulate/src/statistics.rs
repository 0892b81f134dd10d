//! Statistics of an emulated link.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};
use thalweg_netsim::{DropReason, MarkReason};
use thalweg_units::{Bytes, Span};

use crate::reactor::Lateness;

/// Statistics of one direction of a link.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DirectionStatistics {
    /// Packets that arrived at the link.
    pub packets: u64,
    /// Their sizes, from the IP header upwards.
    pub bytes: Bytes,
    /// Packets that left the link.
    pub delivered: u64,
    /// Their sizes.
    pub delivered_bytes: Bytes,
    /// Packets that arrived with each ECN field, in the order of [`Ecn::ALL`](thalweg_units::Ecn::ALL).
    pub by_ecn: [u64; 4],
    /// Packets that left with each.
    pub delivered_by_ecn: [u64; 4],
    /// Packets that left with a mark of a queue of the link, by reason.
    pub marked: BTreeMap<MarkReason, u64>,
    /// Packets the link dropped, by reason.
    pub dropped: BTreeMap<DropReason, u64>,
    /// Packets that the emulator dropped because of its memory limit
    /// ([`LinkConfig::max_inside`](super::LinkConfig::max_inside)): a real link has no such limit.
    pub overflowed: u64,
    /// Bytes on the link now.
    pub inside: Bytes,
    /// The time that packets spent in queues, of those that left.
    pub queued: Lateness,
    /// How late packets were forwarded.
    pub lateness: Lateness,
    /// The error that stopped the log, if any.
    pub log_error: Option<String>,
}

/// Statistics of a link.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Statistics {
    /// Time since time zero.
    pub duration: Span,
    /// [`Way::Up`](super::Way::Up).
    pub up: DirectionStatistics,
    /// [`Way::Down`](super::Way::Down).
    pub down: DirectionStatistics,
    /// Number of clients now.
    pub clients: usize,
    /// Number of clients so far.
    pub clients_ever: u64,
    /// Datagrams from clients beyond the maximum, or for which the system had no socket.
    pub refused: u64,
    /// Packets whose client had been removed when they left the link.
    pub orphaned: u64,
    /// Packets that the system did not take, or that were not IPv4 in a shell.
    pub unsent: u64,
    /// Datagrams that arrived while the kernel's buffers were full.
    pub missed: u64,
    /// ICMP port-unreachable reports from the server's machine.
    pub unreachable: u64,
}

impl Statistics {
    /// As one JSON object; durations in ms as their names say, lateness in us.
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

impl fmt::Display for Statistics {
    /// Four lines for people: each direction, the clients and what never reached them, and how late the link was.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (side, way) in [("up", &self.up), ("down", &self.down)] {
            let dropped: Vec<String> =
                way.dropped.iter().map(|(why, count)| format!("{count} {}", name(*why))).collect();
            let dropped = if dropped.is_empty() { "none".into() } else { dropped.join(", ") };
            let rate = way.delivered_bytes.per(self.duration).as_mbps_f64();
            let [half, most] = [0.5, 0.95].map(|share| way.queued.percentile(share).map_or(0.0, Span::as_millis_f64));
            let (packets, delivered) = (way.packets, way.delivered);
            write!(f, "{side:8} {packets} packets, {delivered} delivered at {rate:.2} Mbps, dropped: {dropped}; ")?;
            writeln!(f, "waited in queues {half:.1} ms (median), {most:.1} ms (95 %)")?;
        }
        let Statistics { clients_ever, refused, unreachable, .. } = self;
        write!(f, "clients  {clients_ever}, {refused} datagrams refused; ")?;
        writeln!(f, "{unreachable} times nobody listened at the server's port")?;
        let late = |way: &DirectionStatistics| way.lateness.percentile(0.95).map_or(0.0, Span::as_millis_f64);
        let lost = self.up.overflowed + self.down.overflowed + self.unsent + self.missed + self.orphaned;
        let (up, down) = (late(&self.up), late(&self.down));
        write!(f, "machine  packets left {up:.2} ms (up) and {down:.2} ms (down) late (95 %), {lost} were lost by it")?;
        let mut errors = [&self.up, &self.down].into_iter().filter_map(|way| way.log_error.as_ref());
        errors.try_for_each(|error| write!(f, "; the log ended: {error}"))
    }
}

/// A reason's name, as in scenario files.
pub(super) fn name(why: DropReason) -> &'static str {
    match why {
        DropReason::QueueFull => "queue-full",
        DropReason::QueueManaged => "queue-managed",
        DropReason::Lost => "lost",
        DropReason::LinkOff => "link-off",
        DropReason::Policed => "policed",
        DropReason::EcnCapable => "ecn-capable",
    }
}

/// A mark's reason by name.
fn mark_name(why: MarkReason) -> &'static str {
    match why {
        MarkReason::Step => "step",
        MarkReason::Ramp => "ramp",
        MarkReason::Coupled => "coupled",
        MarkReason::Classic => "classic",
        MarkReason::Predicted => "predicted",
    }
}

/// Counts of ECN fields by name.
fn by_ecn(counts: [u64; 4]) -> Value {
    let [not_ect, ect1, ect0, ce] = counts;
    json!({ "not_ect": not_ect, "ect1": ect1, "ect0": ect0, "ce": ce })
}

fn direction(direction: &DirectionStatistics, duration: Span) -> Value {
    let marked: BTreeMap<&str, u64> = direction.marked.iter().map(|(why, count)| (mark_name(*why), *count)).collect();
    let dropped: BTreeMap<&str, u64> = direction.dropped.iter().map(|(why, count)| (name(*why), *count)).collect();
    let millis = |share| direction.queued.percentile(share).map(|span| span.as_millis_f64());
    let micros = |share| direction.lateness.percentile(share).map(|span| span.as_millis_f64() * 1e3);
    json!({
        "packets": direction.packets,
        "bytes": direction.bytes.get(),
        "delivered": direction.delivered,
        "delivered_bytes": direction.delivered_bytes.get(),
        "delivered_mbps": direction.delivered_bytes.per(duration).as_mbps_f64(),
        "ecn": by_ecn(direction.by_ecn),
        "delivered_ecn": by_ecn(direction.delivered_by_ecn),
        "marked": marked,
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
