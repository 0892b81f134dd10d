//! A radio link with random delivery opportunities.

use alloc::vec::Vec;

use thalweg_units::{ConfigError, Rate, Seed, Span};

use super::{OPPORTUNITY_BITS, check_extent, ending_at};
use crate::trace::Trace;

/// Delivery opportunities as a Poisson process (Salsify's emulated Wi-Fi: 570 kbps).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Poisson {
    /// The mean rate, in packets of 1500 bytes.
    pub rate: Rate,
}

impl Default for Poisson {
    fn default() -> Self {
        Poisson { rate: Rate::from_kbps(570) }
    }
}

impl Poisson {
    /// Generates a trace of `duration`.
    ///
    /// # Errors
    /// When the rate or the duration is out of range.
    pub fn synthesize(&self, duration: Span, seed: Seed) -> Result<Trace, ConfigError> {
        check_extent(duration, self.rate)?;
        let mut random = seed.child("deliveries").random();
        let gap_ms = OPPORTUNITY_BITS / self.rate.as_bps_f64() * 1e3;
        let mut millis = Vec::new();
        let mut at = random.exponential(gap_ms);
        while at < duration.as_millis_f64() {
            // Counted at the end of its millisecond, so that the first is at 1 or later.
            millis.push((libm::ceil(at) as u64).max(1));
            at += random.exponential(gap_ms);
        }
        ending_at(millis, duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opportunities_come_at_the_rate_with_exponential_gaps() {
        let trace = Poisson::default().synthesize(Span::from_secs(3600), Seed::new(1)).unwrap();
        assert!((trace.mean_rate().as_kbps_f64() / 570.0 - 1.0).abs() < 0.01, "{}", trace.mean_rate());
        let gaps: Vec<f64> = trace.millis().windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let deviation = libm::sqrt(gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / gaps.len() as f64);
        assert!((deviation / mean - 1.0).abs() < 0.02, "mean {mean} ms, deviation {deviation} ms");
        let long = gaps.iter().filter(|gap| **gap > 2.0 * mean).count() as f64 / gaps.len() as f64;
        assert!((long - libm::exp(-2.0)).abs() < 0.01, "{long} of the gaps over twice the mean");
    }
}
