//! A link of which every opportunity is known, as a server of frames in order.

use std::sync::Arc;

use thalweg_netsim::trace::OPPORTUNITY;
use thalweg_netsim::{Rates, Schedule};
use thalweg_units::{Bytes, Time};

/// Capacity of the link.
#[derive(Debug)]
enum Carries {
    /// An opportunity at each of these times, in order.
    Opportunities(Vec<Time>),
    Rates(Rates),
}

/// The link, and how much of it is taken: frames leave one after another, as bytes.
#[derive(Debug, Clone)]
pub(super) struct Server {
    carries: Arc<Carries>,
    /// Up to when it is taken.
    at: Time,
    /// Bytes left of the opportunities at that time, for frames that wait by then.
    left: Bytes,
}

impl Server {
    /// A link that carries these opportunities up to `end`, with nothing taken.
    pub(super) fn of_opportunities(mut schedule: Schedule, end: Time) -> Server {
        let mut times = Vec::new();
        while schedule.next() <= end {
            times.push(schedule.next());
            schedule.advance();
        }
        Server::carrying(Carries::Opportunities(times))
    }

    /// A link with these rates, with nothing taken.
    pub(super) fn of_rates(rates: Rates) -> Server {
        Server::carrying(Carries::Rates(rates))
    }

    fn carrying(carries: Carries) -> Server {
        Server { carries: Arc::new(carries), at: Time::ZERO, left: Bytes::ZERO }
    }

    /// Returns true if it has opportunities, whose bytes count Mahimahi's packet information.
    pub(super) fn has_opportunities(&self) -> bool {
        matches!(*self.carries, Carries::Opportunities(_))
    }

    /// Bytes that it carries after `from` up to `until`, taken or not.
    pub(super) fn carries(&self, from: Time, until: Time) -> Bytes {
        match &*self.carries {
            _ if until <= from => Bytes::ZERO,
            Carries::Opportunities(times) => OPPORTUNITY * (upto(times, until) - upto(times, from)) as u64,
            Carries::Rates(rates) => rates.passes(from, until),
        }
    }

    /// Bytes left up to `until` for a frame that arrives at `from`, behind all that is taken. A packet never leaves in
    /// the millisecond of its arrival (specs/linkemu.md 2).
    pub(super) fn room(&self, from: Time, until: Time) -> Bytes {
        let left = if from < self.at && self.at <= until { self.left } else { Bytes::ZERO };
        left + self.carries(self.at.max(from), until)
    }

    /// Takes the first `size` bytes after `from`; returns when the last of them is through, which is never after the
    /// end of what is known.
    pub(super) fn take(&mut self, from: Time, size: Bytes) -> Time {
        let times = match &*self.carries {
            Carries::Rates(rates) => {
                self.at = rates.finish(self.at.max(from), size);
                return self.at;
            }
            Carries::Opportunities(times) => times,
        };
        let before = if from < self.at { self.left } else { Bytes::ZERO };
        if size <= before {
            self.left = before - size;
            return self.at;
        }
        let size = size - before;
        let first = upto(times, self.at.max(from));
        let needed = size.get().div_ceil(OPPORTUNITY.get());
        let Some(at) = times.get(first + needed as usize - 1).copied() else {
            (self.at, self.left) = (Time::NEVER, Bytes::ZERO);
            return Time::NEVER;
        };
        self.left = OPPORTUNITY * (upto(times, at) - first) as u64 - size;
        self.at = at;
        at
    }
}

/// The number of opportunities up to `at`, included.
fn upto(times: &[Time], at: Time) -> usize {
    times.partition_point(|time| *time <= at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_netsim::Trace;
    use thalweg_units::Rate;

    #[test]
    fn a_frame_gets_what_comes_after_it_and_behind_what_is_taken() {
        let at = Time::from_millis;
        let trace = Arc::new(Trace::new(vec![5, 10, 10, 40, 50]).unwrap());
        let mut server = Server::of_opportunities(Schedule::looped(trace), at(200));
        assert_eq!(server.room(at(5), at(40)), OPPORTUNITY * 3);
        // One opportunity and 4 bytes of the next, of two in the same millisecond.
        assert_eq!(server.take(at(0), Bytes::new(1508)), at(10));
        assert_eq!(server.room(at(9), at(40)), OPPORTUNITY * 3 - Bytes::new(4));
        // What arrives in that millisecond comes too late for it.
        assert_eq!(server.room(at(10), at(40)), OPPORTUNITY);
        assert_eq!(server.take(at(9), Bytes::new(3000)), at(10));
        assert_eq!(server.take(at(9), Bytes::new(100)), at(40));
        // The trace begins again after 50 ms.
        assert_eq!((server.take(at(60), OPPORTUNITY * 3), server.take(at(60), OPPORTUNITY)), (at(105), at(110)));
        assert_eq!(server.carries(at(50), at(60)), OPPORTUNITY * 3);
        assert_eq!(server.take(at(60), OPPORTUNITY * 100), Time::NEVER);
    }

    #[test]
    fn a_link_with_a_rate_carries_bits_without_end() {
        let at = Time::from_millis;
        let rates = Rates::constant(Rate::from_kbps(800)).unwrap();
        let mut server = Server::of_rates(rates);
        assert_eq!(server.take(at(10), Bytes::new(1000)), at(20));
        assert_eq!(server.room(at(15), at(40)), Bytes::new(2000));
        assert_eq!(server.take(at(15), Bytes::new(1000)), at(30));
    }
}
