//! One direction of a link, in time since zero.

use thalweg_netsim::{Change, Departure, Link, Packet, Path, PathCapacity};
use thalweg_units::{Bytes, Time};

use super::log::Log;
use super::statistics::{DirectionStatistics, name};

/// A path with a limit on the bytes it holds, a log and counts.
pub(super) struct Direction<P> {
    path: Path<P>,
    max_inside: Bytes,
    log: Option<Log>,
    statistics: DirectionStatistics,
}

impl<P: Packet> Direction<P> {
    pub(super) fn new(path: Path<P>, max_inside: Bytes, log: Option<Log>) -> Direction<P> {
        Direction { path, max_inside, log, statistics: DirectionStatistics::default() }
    }

    /// A packet arrives. Everything that was due has been released.
    pub(super) fn offer(&mut self, now: Time, size: Bytes, packet: P) {
        let Direction { path, statistics, log, .. } = self;
        statistics.packets += 1;
        statistics.bytes += size;
        statistics.by_ecn[usize::from(packet.ecn().bits())] += 1;
        if let Some(log) = log {
            log.arrived(now, size);
        }
        if statistics.inside + size > self.max_inside {
            statistics.overflowed += 1;
            if let Some(log) = log {
                log.dropped(now, size, "overflowed");
            }
            return;
        }
        statistics.inside += size;
        path.offer(now, size, packet);
        self.count_drops();
    }

    /// The next packet that left the path at or before `now`.
    pub(super) fn poll(&mut self, now: Time) -> Option<Departure<P>> {
        let departure = self.path.poll(now);
        self.count_drops();
        let departure = departure?;
        let statistics = &mut self.statistics;
        statistics.inside -= departure.size;
        statistics.delivered += 1;
        statistics.delivered_bytes += departure.size;
        statistics.delivered_by_ecn[usize::from(departure.packet.ecn().bits())] += 1;
        if let Some(why) = departure.packet.marked() {
            *statistics.marked.entry(why).or_default() += 1;
        }
        statistics.queued.add(departure.queued);
        if let Some(log) = &mut self.log {
            log.departed(departure.at, departure.size, departure.queued);
        }
        Some(departure)
    }

    /// A packet that was due at `at` was forwarded at `actual`.
    pub(super) fn passed_on(&mut self, at: Time, actual: Time) {
        self.statistics.lateness.record(at, actual);
    }

    /// Changes the path; everything that was due has been released.
    pub(super) fn change(&mut self, now: Time, change: &Change) {
        self.path.change(now, change);
        if let (Some(log), Change::Rate(rate)) = (&mut self.log, change) {
            log.changed(now, *rate);
        }
    }

    pub(super) fn capacity(&self) -> &PathCapacity {
        self.path.capacity()
    }

    pub(super) fn next_event(&self) -> Time {
        self.path.next_event()
    }

    pub(super) fn flush(&mut self, now: Time) {
        if let Some(log) = &mut self.log {
            log.flush(now);
        }
    }

    pub(super) fn statistics(&self) -> DirectionStatistics {
        let log_error = self.log.as_ref().and_then(Log::error).map(ToString::to_string);
        DirectionStatistics { log_error, ..self.statistics.clone() }
    }

    fn count_drops(&mut self) {
        while let Some(drop) = self.path.poll_drop() {
            self.statistics.inside -= drop.size;
            *self.statistics.dropped.entry(drop.why).or_default() += 1;
            if let Some(log) = &mut self.log {
                log.dropped(drop.at, drop.size, name(drop.why));
            }
        }
    }
}
