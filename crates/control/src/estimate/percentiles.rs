//! Percentiles of a time window (specs/metrics.md 10, type 7: linear between ranks).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use thalweg_units::{Span, Time};

/// Recent durations and their percentiles.
#[derive(Debug, Clone)]
pub struct Percentiles {
    window: Span,
    max: usize,
    samples: VecDeque<(Time, Span)>,
}

impl Percentiles {
    /// Percentiles of the samples of (now - window, now], of which only the newest `max` count; at least one.
    pub fn new(window: Span, max: usize) -> Percentiles {
        Percentiles { window, max: max.max(1), samples: VecDeque::new() }
    }

    /// Adds a sample and drops those that are too old or too many.
    pub fn add(&mut self, now: Time, value: Span) {
        self.samples.push_back((now, value));
        while self.samples.len() > self.max || self.samples.front().is_some_and(|(at, _)| *at + self.window <= now) {
            self.samples.pop_front();
        }
    }

    /// The number of samples that count.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Returns true if there are no samples.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// The value below which `share` (0..=1) of the samples are; `None` without samples.
    pub fn get(&self, share: f64) -> Option<Span> {
        let mut sorted: Vec<Span> = self.samples.iter().map(|(_, value)| *value).collect();
        sorted.sort_unstable();
        let last = sorted.len().checked_sub(1)?;
        let rank = last as f64 * share.clamp(0.0, 1.0);
        let below = (rank as usize).min(last);
        let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
        Some(low + (high - low).scale(rank - below as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(millis: impl IntoIterator<Item = i64>) -> Percentiles {
        let mut percentiles = Percentiles::new(Span::from_secs(60), 300);
        millis.into_iter().for_each(|ms| percentiles.add(Time::ZERO, Span::from_millis(ms)));
        percentiles
    }

    #[test]
    fn ranks_between_two_samples_lie_between_them() {
        // specs/fbra.md 8, example 1, and specs/metrics.md 11, example 5.
        let delays = of([31, 33, 34, 35, 36, 38, 40, 41, 44, 60]);
        assert_eq!(delays.get(0.4), Some(Span::from_micros(35_600)));
        assert_eq!(delays.get(0.8), Some(Span::from_micros(41_600)));
        assert_eq!(of(1..=20).get(0.95), Some(Span::from_micros(19_050)));
        assert_eq!((of([7]).get(0.0), of([7]).get(1.0), of([]).get(0.5)), (of([7]).get(0.5), of([7]).get(0.5), None));
    }

    #[test]
    fn what_is_old_or_too_much_no_longer_counts() {
        let mut few = Percentiles::new(Span::from_secs(60), 3);
        (1..=5).for_each(|second| few.add(Time::from_millis(1000 * second), Span::from_millis(second as i64)));
        assert_eq!((few.len(), few.get(0.0)), (3, Some(Span::from_millis(3))));
        few.add(Time::from_millis(64_000), Span::from_millis(9));
        assert_eq!((few.len(), few.get(0.0)), (2, Some(Span::from_millis(5))));
    }

    proptest! {
        #[test]
        fn a_percentile_grows_with_its_share_and_keeps_within_the_samples(
            values in proptest::collection::vec(-1_000i64..1_000, 1..60), low in 0.0f64..1.0, more in 0.0f64..1.0
        ) {
            let all = of(values.iter().copied());
            let high = (low + more).min(1.0);
            prop_assert!(all.get(low) <= all.get(high));
            prop_assert_eq!(all.get(0.0), values.iter().min().map(|ms| Span::from_millis(*ms)));
            prop_assert_eq!(all.get(1.0), values.iter().max().map(|ms| Span::from_millis(*ms)));
        }
    }
}
