//! A first-in first-out queue drained at a rate that changes over time.

use std::collections::VecDeque;

use thalweg_units::{Bytes, Rate, Span, Time};

/// The capacity of the bottleneck over time.
#[derive(Debug, Clone)]
pub struct Schedule(Vec<(Time, Rate)>);

impl Schedule {
    /// One rate throughout.
    pub fn constant(rate: Rate) -> Schedule {
        Schedule(vec![(Time::ZERO, rate)])
    }

    /// Rates and the second at which each begins; the first begins at once.
    pub fn steps(steps: &[(u64, Rate)]) -> Schedule {
        assert_eq!(steps[0].0, 0, "the first rate begins at the start");
        Schedule(steps.iter().map(|(second, rate)| (Time::from_millis(second * 1000), *rate)).collect())
    }

    /// The final rate.
    pub fn last(&self) -> Rate {
        self.0[self.0.len() - 1].1
    }

    /// Each rate, when it begins and when it ends.
    fn rates(&self) -> impl Iterator<Item = (Rate, Time, Time)> {
        let ends = self.0.iter().skip(1).map(|(at, _)| *at).chain([Time::NEVER]);
        self.0.iter().zip(ends).map(|((at, rate), end)| (*rate, *at, end))
    }

    /// The bytes that could have passed between two instants.
    pub fn between(&self, from: Time, to: Time) -> Bytes {
        self.rates().map(|(rate, at, end)| rate.over(end.min(to) - at.max(from))).sum()
    }

    /// When a packet of `size` has passed if its service begins at `start`.
    fn served(&self, start: Time, size: Bytes) -> Time {
        let mut left = size.bits() as f64;
        let mut at = start;
        for (rate, _, end) in self.rates().filter(|(_, _, end)| *end > start) {
            if rate > Rate::ZERO {
                let through = at + Span::from_secs_f64(left / rate.as_bps_f64());
                if through <= end {
                    return through;
                }
            }
            left -= rate.as_bps_f64() * (end - at).as_secs_f64();
            at = end;
        }
        Time::NEVER
    }
}

/// The queue.
#[derive(Debug)]
pub struct Bottleneck {
    schedule: Schedule,
    pub limit: Bytes,
    free_at: Time,
    queued: VecDeque<(Time, Bytes)>,
    backlog: Bytes,
}

impl Bottleneck {
    pub fn new(schedule: Schedule, limit: Bytes) -> Bottleneck {
        Bottleneck { schedule, limit, free_at: Time::ZERO, queued: VecDeque::new(), backlog: Bytes::ZERO }
    }

    /// When a packet has passed; `None` if the queue was full.
    pub fn offer(&mut self, now: Time, size: Bytes) -> Option<Time> {
        while let Some((_, size)) = self.queued.front().copied().filter(|(at, _)| *at <= now) {
            self.queued.pop_front();
            self.backlog -= size;
        }
        if self.backlog + size > self.limit {
            return None;
        }
        let through = self.schedule.served(self.free_at.max(now), size);
        self.free_at = through;
        self.queued.push_back((through, size));
        self.backlog += size;
        Some(through)
    }
}
