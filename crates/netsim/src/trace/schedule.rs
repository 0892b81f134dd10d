//! A trace being played.

use alloc::sync::Arc;

use thalweg_units::{Rate, Time};

use super::Trace;

/// The position in a trace that is being played.
#[derive(Debug, Clone)]
pub struct Schedule {
    trace: Arc<Trace>,
    index: usize,
    base: u64,
    once: bool,
    finished: bool,
}

impl Schedule {
    /// Plays the trace in a loop.
    pub fn looped(trace: Arc<Trace>) -> Schedule {
        Schedule { trace, index: 0, base: 0, once: false, finished: false }
    }

    /// Plays the trace once; after its end nothing is delivered.
    pub fn once(trace: Arc<Trace>) -> Schedule {
        Schedule { once: true, ..Schedule::looped(trace) }
    }

    /// The mean rate of the trace.
    pub(crate) fn mean_rate(&self) -> Rate {
        self.trace.mean_rate()
    }

    /// The time of the next opportunity; [`Time::NEVER`] after the end.
    pub fn next(&self) -> Time {
        if self.finished { Time::NEVER } else { Time::from_millis(self.base + self.trace.millis()[self.index]) }
    }

    /// Moves on to the following opportunity.
    pub fn advance(&mut self) {
        let millis = self.trace.millis();
        self.index += 1;
        if self.index == millis.len() {
            self.index = 0;
            self.base += millis[millis.len() - 1];
            self.finished = self.once;
        }
    }

    /// Skips every opportunity before `at`, however many.
    pub fn skip_to(&mut self, at: Time) {
        if self.next() >= at {
            return;
        }
        let millis = self.trace.millis();
        let period = millis[millis.len() - 1];
        let wanted = at.as_nanos().div_ceil(1_000_000);
        if !self.once && wanted > self.base + period {
            let loops = (wanted - self.base - 1) / period;
            self.base += loops * period;
            self.index = 0;
        }
        let within = wanted.saturating_sub(self.base);
        let position = millis[self.index..].partition_point(|millis| *millis < within);
        self.index += position;
        if self.index == millis.len() {
            self.index = 0;
            self.base += period;
            self.finished = self.once;
            if !self.finished && self.next() < at {
                self.skip_to(at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn first(mut schedule: Schedule, count: usize) -> Vec<u64> {
        (0..count)
            .map(|_| {
                let at = schedule.next().as_millis();
                schedule.advance();
                at
            })
            .collect()
    }

    #[test]
    fn a_trace_begins_again_where_its_last_opportunity_is() {
        let looped = |millis: Vec<u64>| Schedule::looped(Arc::new(Trace::new(millis).unwrap()));
        assert_eq!(first(looped(vec![0, 4, 10]), 8), [0, 4, 10, 10, 14, 20, 20, 24]);
        assert_eq!(first(looped(vec![5, 5, 12, 20]), 8), [5, 5, 12, 20, 25, 25, 32, 40]);
    }

    #[test]
    fn a_trace_played_once_ends() {
        let mut schedule = Schedule::once(Arc::new(Trace::new(vec![3, 7]).unwrap()));
        schedule.advance();
        assert_eq!(schedule.next(), Time::from_millis(7));
        schedule.advance();
        assert_eq!(schedule.next(), Time::NEVER);
    }

    proptest! {
        #[test]
        fn skipping_is_advancing_many_times(
            gaps in proptest::collection::vec(0u64..20, 1..20),
            jumps in proptest::collection::vec(0u64..300, 1..20),
        ) {
            let mut at = 0;
            let mut millis: Vec<u64> = gaps.iter().map(|gap| { at += gap; at }).collect();
            millis.push(at + 1);
            let trace = Arc::new(Trace::new(millis).unwrap());
            let (mut fast, mut slow) = (Schedule::looped(trace.clone()), Schedule::looped(trace));
            let mut now = 0;
            for jump in jumps {
                now += jump;
                fast.skip_to(Time::from_millis(now));
                while slow.next() < Time::from_millis(now) {
                    slow.advance();
                }
                prop_assert_eq!(fast.next(), slow.next());
                prop_assert_eq!(fast.index, slow.index);
                fast.advance();
                slow.advance();
            }
        }
    }
}
