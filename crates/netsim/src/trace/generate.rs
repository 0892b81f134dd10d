//! Traces from rates.

use alloc::vec::Vec;

use thalweg_units::{Rate, Span};

use super::mahimahi::MAX_MILLIS;
use super::{MOST_OPPORTUNITIES, Trace, TraceError};

/// Bits of an opportunity that count as throughput: a 1500-byte packet.
pub(super) const OPPORTUNITY_BITS: u64 = 12_000;
/// A constant rate has at most this many, which is 8 MB: viewers of a live link choose rates.
const MOST_OF_CONSTANT: u64 = 1_000_000;

impl Trace {
    /// A constant rate: the k-th opportunity at floor(12k / C) ms for C in Mbps, ended where 12k / C is a whole number,
    /// so that the loop is exact (specs/linkemu.md 4).
    ///
    /// # Errors
    /// When the rate is zero.
    pub fn constant(rate: Rate) -> Result<Trace, TraceError> {
        if rate == Rate::ZERO {
            return Err(TraceError::Empty);
        }
        // 12000 bits take 12_000_000 / bps milliseconds: the k-th opportunity is at floor(k * numerator / denominator).
        let (numerator, denominator) = (OPPORTUNITY_BITS * 1000, rate.as_bps());
        let common = greatest_common_divisor(numerator, denominator);
        let (numerator, denominator) = (numerator / common, denominator / common);
        // For some rates the exact period would be absurdly long; it then ends at about ten minutes, or before it takes
        // too much memory, which is off by less than a millisecond.
        let longest = (600_000 * denominator / numerator).max(1);
        let count = denominator.min(longest).min(MOST_OF_CONSTANT);
        Trace::new((1..=count).map(|k| k * numerator / denominator).collect())
    }

    /// Rates in turn, each for its number of milliseconds.
    ///
    /// # Errors
    /// When nothing is ever delivered, or more than 100 million packets are.
    pub fn from_rates(pieces: impl IntoIterator<Item = (u64, Rate)>) -> Result<Trace, TraceError> {
        // Thousandths of a bit, in which a bit/s is one a millisecond.
        const OPPORTUNITY: u128 = OPPORTUNITY_BITS as u128 * 1000;
        let mut millis = Vec::new();
        let (mut served, mut now) = (0u128, 0u64);
        for (duration, rate) in pieces {
            let rate = u128::from(rate.as_bps());
            let opportunities = (served + rate * u128::from(duration)) / OPPORTUNITY;
            let end = now.checked_add(duration).filter(|end| *end <= MAX_MILLIS).ok_or(TraceError::TooMany)?;
            if millis.len() as u128 + opportunities > u128::from(MOST_OPPORTUNITIES) {
                return Err(TraceError::TooMany);
            }
            millis.extend((1..=opportunities).map(|count| now + (count * OPPORTUNITY - served).div_ceil(rate) as u64));
            (served, now) = (served + rate * u128::from(duration) - opportunities * OPPORTUNITY, end);
        }
        if millis.is_empty() {
            return Err(TraceError::Empty);
        }
        // The trace loops after its last opportunity: if the end has none, one is added to mark it.
        if *millis.last().unwrap_or(&0) < now {
            millis.push(now);
        }
        Trace::new(millis)
    }

    /// Two rates in turn, each for `half` (Vidaptive Fig. 1: 2 Mbps and 500 kbps, 40 s each).
    ///
    /// # Errors
    /// When both rates are zero or `half` is shorter than a millisecond.
    pub fn periodic(first: Rate, second: Rate, half: Span) -> Result<Trace, TraceError> {
        let millis = half.as_millis().max(0) as u64;
        Trace::from_rates([(millis, first), (millis, second)])
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_memory_holds_is_refused_at_once() {
        let most = Rate::from_bps(u64::MAX);
        for pieces in [[(1000, most), (1, Rate::ZERO)], [(u64::MAX, Rate::ZERO), (1, most)]] {
            assert_eq!(Trace::from_rates(pieces), Err(TraceError::TooMany));
        }
    }

    #[test]
    fn constant_rates_are_the_lines_the_spec_lists() {
        let lines = |mbps: f64| Trace::constant(Rate::from_mbps_f64(mbps)).unwrap().millis().to_vec();
        assert_eq!(lines(1.0), [12]);
        assert_eq!(lines(12.0), [1]);
        assert_eq!(lines(2.0), [6]);
        assert_eq!(lines(5.0), [2, 4, 7, 9, 12]);
        assert_eq!(lines(24.0), [0, 1]);
    }

    #[test]
    fn a_constant_rate_without_a_short_period_is_as_exact_as_a_few_megabytes_allow() {
        for bps in [10_001, 12_345_679, 999_999_999] {
            let trace = Trace::constant(Rate::from_bps(bps)).unwrap();
            assert!(trace.millis().len() <= 1_000_000, "{bps}: {}", trace.millis().len());
            let apart = trace.mean_rate().as_bps_f64() / bps as f64 - 1.0;
            assert!(apart.abs() < 2e-4, "{bps}: {apart}");
        }
    }

    #[test]
    fn a_periodic_trace_has_both_rates_and_loops_exactly() {
        let trace = Trace::periodic(Rate::from_kbps(2000), Rate::from_kbps(500), Span::from_secs(40)).unwrap();
        assert_eq!(trace.period(), Span::from_secs(80));
        assert_eq!(&trace.millis()[..3], [6, 12, 18]);
        let kbps = trace.mean_rate().as_kbps_f64();
        assert!((kbps - 1250.0).abs() < 1.0, "{kbps}");
    }
}
