//! Statistics of lateness.

use std::fmt;

use thalweg_units::{Span, Time};

/// Buckets per octave: a percentile is at most an eighth above the true value.
const PARTS: u64 = 8;
/// Buckets for 64 octaves of nanoseconds.
const BUCKETS: usize = 64 * PARTS as usize;

/// A histogram of how late events happened, or how long they took: its memory does not grow with their number.
#[derive(Clone, PartialEq, Eq)]
pub struct Lateness {
    counts: Box<[u64; BUCKETS]>,
    count: u64,
    sum: Span,
    max: Span,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness { counts: Box::new([0; BUCKETS]), count: 0, sum: Span::ZERO, max: Span::ZERO }
    }
}

impl Lateness {
    /// Adds an event wanted at `wanted` that happened at `actual`; early counts as zero.
    pub fn record(&mut self, wanted: Time, actual: Time) {
        self.add(actual - wanted);
    }

    /// Adds a duration or lateness of `span`; a negative one counts as zero.
    pub fn add(&mut self, span: Span) {
        let span = span.max(Span::ZERO);
        self.counts[bucket(span.as_nanos() as u64)] += 1;
        self.count += 1;
        self.sum += span;
        self.max = self.max.max(span);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of all values.
    pub fn sum(&self) -> Span {
        self.sum
    }

    /// The maximum; zero without values.
    pub fn max(&self) -> Span {
        self.max
    }

    /// The percentile at `share` (0 to 1), at most an eighth too high; `None` without values.
    pub fn percentile(&self, share: f64) -> Option<Span> {
        let rank = ((share.clamp(0.0, 1.0) * self.count as f64).ceil() as u64).max(1);
        let mut passed = 0;
        let index = self.counts.iter().position(|count| {
            passed += count;
            passed >= rank
        })?;
        Some(Span::from_nanos(i64::try_from(top(index)).unwrap_or(i64::MAX)).min(self.max))
    }

    /// Adds another's counts.
    pub fn merge(&mut self, other: &Lateness) {
        self.counts.iter_mut().zip(other.counts.iter()).for_each(|(count, more)| *count += more);
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }
}

impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = |share| self.percentile(share).unwrap_or_default().as_secs_f64() * 1e6;
        let max = self.max.as_secs_f64() * 1e6;
        write!(
            f,
            "p50 {:.1} us, p95 {:.1} us, p99 {:.1} us, max {max:.1} us of {}",
            micros(0.5),
            micros(0.95),
            micros(0.99),
            self.count
        )
    }
}

impl fmt::Debug for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lateness({self})")
    }
}

/// The bucket of `nanos`: those below [`PARTS`] have one each, each octave above has [`PARTS`].
fn bucket(nanos: u64) -> usize {
    let octave = u64::from((nanos | (PARTS - 1)).ilog2() + 1 - PARTS.ilog2());
    match octave {
        0 => nanos as usize,
        _ => (octave * PARTS + (nanos >> (octave - 1)) - PARTS) as usize,
    }
}

/// The largest value in a bucket.
fn top(bucket: usize) -> u64 {
    let (octave, part) = (bucket as u64 / PARTS, bucket as u64 % PARTS);
    match octave {
        0 => part,
        _ => ((u128::from(PARTS + part + 1) << (octave - 1)) - 1).min(u128::from(u64::MAX)) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(lates: &[i64]) -> Lateness {
        let mut lateness = Lateness::default();
        let wanted = Time::from_millis(1_000);
        lates.iter().for_each(|late| lateness.record(wanted, wanted + Span::from_nanos(*late)));
        lateness
    }

    #[test]
    fn a_hundred_equal_steps_have_their_percentiles_within_an_eighth() {
        let lateness = of(&(1..=100).map(|i| i * 1_000).collect::<Vec<_>>());
        for share in [0.5, 0.95, 0.99] {
            let found = lateness.percentile(share).unwrap().as_nanos() as f64;
            let exact = share * 100_000.0;
            assert!((exact..=exact * 1.125).contains(&found), "{share}: {found}");
        }
        assert_eq!(lateness.percentile(1.0), Some(Span::from_micros(100)));
        let text = lateness.to_string();
        assert!(text.starts_with("p50 ") && text.ends_with("max 100.0 us of 100"), "{text}");
    }

    #[test]
    fn nothing_has_no_percentile_and_early_is_not_late() {
        assert_eq!(of(&[]).percentile(0.5), None);
        assert_eq!(of(&[-5_000]).percentile(0.5), Some(Span::ZERO));
    }

    #[test]
    fn buckets_follow_one_another_without_gaps() {
        assert_eq!(
            (0..20).map(bucket).collect::<Vec<_>>(),
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 16, 17, 17]
        );
        for index in 0..bucket(u64::MAX) {
            assert_eq!((bucket(top(index)), bucket(top(index) + 1)), (index, index + 1));
        }
        assert!(bucket(u64::MAX) < BUCKETS);
    }

    proptest! {
        #[test]
        fn two_merged_are_one_of_all(
            a in proptest::collection::vec(0i64..1 << 40, 0..50),
            b in proptest::collection::vec(0i64..1 << 40, 0..50),
        ) {
            let mut merged = of(&a);
            merged.merge(&of(&b));
            prop_assert_eq!(merged, of(&[a, b].concat()));
        }

        #[test]
        fn a_percentile_is_at_most_an_eighth_above_the_value_of_its_rank(
            lates in proptest::collection::vec(0i64..1 << 40, 1..80),
            share in 0.0..=1.0f64,
        ) {
            let mut sorted = lates.clone();
            sorted.sort_unstable();
            let rank = ((share * lates.len() as f64).ceil() as usize).max(1);
            let (exact, found) = (sorted[rank - 1], of(&lates).percentile(share).unwrap().as_nanos());
            prop_assert!(found >= exact && found as f64 <= exact as f64 * 1.125 + 1.0, "{found} for {exact}");
        }
    }
}
