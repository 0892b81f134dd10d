//! Statistics of a trace.

use alloc::vec::Vec;

use thalweg_units::{Rate, Span, Time};

use super::Trace;

/// Statistics of one period of a trace, for `thalweg trace inspect`. Rates count 1500 bytes per opportunity.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// The length of the period.
    pub duration: Span,
    /// Opportunities in it.
    pub opportunities: u64,
    /// The mean rate.
    pub mean: Rate,
    /// Percentiles of the rate per whole second: min, 5th, 25th, 50th, 75th, 95th, max.
    pub per_second: [Rate; 7],
    /// Standard deviation of the rate per second, divided by its mean.
    pub variation: f64,
    /// Correlation of the rate of one second with that of the next.
    pub autocorrelation: f64,
    /// The longest time without an opportunity.
    pub longest_gap: Span,
    /// The share of time spent in gaps longer than 100 ms.
    pub outage_share: f64,
    /// Gaps longer than a second.
    pub long_gaps: usize,
}

impl Trace {
    /// The rate of each second, the last of which may not be whole: all opportunities of one period, each counted in
    /// the second whose end it is at or before. [`Trace::from_rates`] makes the same number of opportunities of them.
    pub fn rates_by_second(&self) -> Vec<Rate> {
        let past = Time::ZERO + self.period() + Span::from_millis(1);
        let seconds = self.period().as_millis().max(1).unsigned_abs().div_ceil(1000);
        let of = |second: u64| {
            // An opportunity is at the end of its millisecond; those at 0 are the first of all.
            let from = if second == 0 { Time::ZERO } else { Time::from_millis(second * 1000 + 1) };
            let to = Time::from_millis((second + 1) * 1000 + 1).min(past);
            // At the end of a period those at 0 come again.
            let again = if to == past { self.millis().partition_point(|millis| *millis == 0) as u64 } else { 0 };
            Rate::from_bps((self.opportunities(from, to) - again) * 12_000)
        };
        (0..seconds).map(of).collect()
    }

    /// Computes the statistics.
    pub fn statistics(&self) -> Statistics {
        let seconds = (self.period().as_millis() / 1000).max(1) as u64;
        let rates: Vec<f64> = (0..seconds)
            .map(|s| {
                self.opportunities(Time::from_millis(s * 1000), Time::from_millis((s + 1) * 1000)) as f64 * 12_000.0
            })
            .collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let variance = rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum::<f64>() / rates.len() as f64;
        let covariance = rates.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>()
            / (rates.len().max(2) - 1) as f64;
        let mut sorted = rates;
        sorted.sort_by(f64::total_cmp);
        let percentile = |share: f64| {
            let at = share * (sorted.len() - 1) as f64;
            let (low, high) = (libm::floor(at) as usize, libm::ceil(at) as usize);
            Rate::from_bps_f64(sorted[low] + (sorted[high] - sorted[low]) * (at - low as f64))
        };
        let mut previous = 0;
        let gaps: Vec<u64> = self
            .millis()
            .iter()
            .map(|millis| {
                let gap = millis - previous;
                previous = *millis;
                gap
            })
            .collect();
        let in_outages: u64 = gaps.iter().filter(|gap| **gap > 100).sum();
        Statistics {
            duration: self.period(),
            opportunities: self.millis().len() as u64,
            mean: self.mean_rate(),
            per_second: [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0].map(percentile),
            variation: if mean > 0.0 { libm::sqrt(variance) / mean } else { 0.0 },
            autocorrelation: if variance > 0.0 { covariance / variance } else { 0.0 },
            longest_gap: Span::from_millis(gaps.iter().copied().max().unwrap_or(0) as i64),
            outage_share: in_outages as f64 / self.period().as_millis() as f64,
            long_gaps: gaps.iter().filter(|gap| **gap > 1000).count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_trace_varies_little_and_has_no_outage() {
        let statistics = Trace::periodic(Rate::from_kbps(6000), Rate::from_kbps(6000), Span::from_secs(5)).unwrap();
        let statistics = statistics.statistics();
        assert_eq!(statistics.mean, Rate::from_kbps(6000));
        assert!(statistics.variation < 0.01 && statistics.outage_share == 0.0);
        assert_eq!(statistics.longest_gap, Span::from_millis(2));
    }
}
