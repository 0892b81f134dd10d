//! PROBE_BW: eight phases; one probes for more, one drains the queue that this caused, six cruise.

use thalweg_units::{Bytes, Random, Span, Time};

/// The position in the cycle.
#[derive(Debug, Clone)]
pub(super) struct Cycle {
    gains: [f64; 8],
    phase: usize,
    began: Time,
    random: Random,
}

/// The conditions for the end of a phase.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flight {
    pub(super) now: Time,
    pub(super) rt_prop: Span,
    /// BDP.
    pub(super) bdp: Bytes,
    /// Bytes in flight before the latest feedback.
    pub(super) before: Bytes,
    /// Bytes in flight after it.
    pub(super) after: Bytes,
    /// True if the feedback reported losses.
    pub(super) lost: bool,
}

impl Cycle {
    pub(super) fn new(gains: [f64; 8], random: Random) -> Cycle {
        Cycle { gains, phase: 0, began: Time::ZERO, random }
    }

    /// pacing_gain.
    pub(super) fn gain(&self) -> f64 {
        self.gains[self.phase]
    }

    /// PROBE_BW begins in any phase but the draining one: there is no queue from probing yet.
    pub(super) fn begin(&mut self, now: Time) {
        self.began = now;
        self.phase = (1 + self.random.below(7) as usize + 1) % 8;
    }

    /// Moves to the next phase if this one is over.
    pub(super) fn advance(&mut self, flight: Flight) {
        let Flight { now, rt_prop, bdp, before, after, lost } = flight;
        let long_enough = now - self.began > rt_prop;
        let gain = self.gain();
        let over = if gain > 1.0 {
            // A probe is complete only if enough was in flight to test the path.
            long_enough && (lost || before >= bdp.scale(gain))
        } else if gain < 1.0 {
            // Bytes in flight after the feedback: with batched reports, many of the bytes counted before it had arrived
            // long ago.
            long_enough || after <= bdp
        } else {
            long_enough
        };
        if over {
            self.began = now;
            self.phase = (self.phase + 1) % 8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Seed;

    const GAINS: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

    fn flight(ms: u64, before: u64, after: u64) -> Flight {
        Flight {
            now: Time::from_millis(ms),
            rt_prop: Span::from_millis(50),
            bdp: Bytes::new(37_500),
            before: Bytes::new(before),
            after: Bytes::new(after),
            lost: false,
        }
    }

    #[test]
    fn it_begins_in_each_phase_but_the_one_that_drains() {
        let mut cycle = Cycle::new(GAINS, Seed::new(1).random());
        let mut seen = [0; 8];
        for _ in 0..1000 {
            cycle.begin(Time::ZERO);
            seen[cycle.phase] += 1;
        }
        assert!(seen.iter().enumerate().all(|(phase, count)| (*count > 80) == (phase != 1)), "{seen:?}");
    }

    #[test]
    fn asking_for_more_ends_only_when_more_was_under_way_or_lost() {
        let mut cycle = Cycle::new(GAINS, Seed::new(1).random());
        cycle.advance(flight(50, 50_000, 48_500));
        assert_eq!(cycle.gain(), 1.25, "not longer than a round trip");
        cycle.advance(flight(60, 46_874, 46_000));
        assert_eq!(cycle.gain(), 1.25, "1.25 BDP are 46 875 bytes");
        cycle.advance(Flight { lost: true, ..flight(60, 20_000, 18_500) });
        assert_eq!(cycle.gain(), 0.75);
        cycle.phase = 0;
        cycle.began = Time::ZERO;
        cycle.advance(flight(60, 46_875, 45_375));
        assert_eq!(cycle.gain(), 0.75);
    }

    #[test]
    fn draining_ends_with_the_queue_or_a_round_trip_and_cruising_with_a_round_trip() {
        let mut cycle = Cycle::new(GAINS, Seed::new(1).random());
        cycle.phase = 1;
        cycle.advance(flight(10, 40_000, 37_501));
        assert_eq!(cycle.phase, 1);
        cycle.advance(flight(20, 40_000, 37_500));
        assert_eq!(cycle.phase, 2);
        cycle.advance(flight(70, 40_000, 37_500));
        assert_eq!(cycle.phase, 2);
        cycle.advance(flight(71, 40_000, 37_500));
        assert_eq!(cycle.phase, 3);
    }
}
