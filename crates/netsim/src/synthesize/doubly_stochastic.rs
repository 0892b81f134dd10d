//! Sprout's model of a cellular link (Winstein et al., NSDI 2013, section 3.1), as a generator.

use alloc::vec::Vec;

use thalweg_units::{ConfigError, Random, Rate, Seed, Span, check};

use super::{OPPORTUNITY_BITS, check_extent, ending_at};
use crate::trace::Trace;

/// The rate is constant within a tick (Sprout: 20 ms).
const TICK: Span = Span::from_millis(20);

/// Deliveries are Poisson at a rate that does Brownian motion between zero and a ceiling; a rate of zero is sticky.
/// Rates count packets of 1500 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct DoublyStochastic {
    /// The initial rate.
    pub start: Rate,
    /// Standard deviation of the rate's change in one second (Sprout: 200 packets/s, 2.4 Mbps; recordings: 600 kbps to
    /// 4.8 Mbps).
    pub wander: Rate,
    /// Max rate; a higher value is clamped to it (Sprout: 1000 packets/s, 12 Mbps).
    pub ceiling: Rate,
    /// Mean length of an outage (Sprout: 1 s; recordings: 200 ms to 2 s).
    pub outage: Span,
}

impl Default for DoublyStochastic {
    fn default() -> Self {
        DoublyStochastic {
            start: Rate::from_kbps(6_000),
            wander: Rate::from_kbps(2_400),
            ceiling: Rate::from_kbps(12_000),
            outage: Span::from_secs(1),
        }
    }
}

impl DoublyStochastic {
    /// Generates a trace of `duration`.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn synthesize(&self, duration: Span, seed: Seed) -> Result<Trace, ConfigError> {
        self.check(duration)?;
        let mut deliveries = seed.child("deliveries").random();
        let mut rates = seed.child("rate").random();
        let mut rate = self.start.as_bps_f64();
        let mut millis = Vec::new();
        let mut within: Vec<u64> = Vec::new();
        for tick in 0..duration.as_nanos() / TICK.as_nanos() {
            rate = self.next(rate, &mut rates);
            let start = tick as f64 * TICK.as_millis_f64();
            let count = deliveries.poisson(rate / OPPORTUNITY_BITS * TICK.as_secs_f64());
            // Counted at the end of its millisecond, so that the first is at 1 and the last within the duration.
            within.extend((0..count).map(|_| (start + deliveries.unit() * TICK.as_millis_f64()) as u64 + 1));
            within.sort_unstable();
            millis.append(&mut within);
        }
        ending_at(millis, duration)
    }

    /// The rate one tick later, in bit/s.
    fn next(&self, rate: f64, random: &mut Random) -> f64 {
        let change = self.wander.as_bps_f64() * libm::sqrt(TICK.as_secs_f64()) * random.normal();
        let ceiling = self.ceiling.as_bps_f64();
        if rate > 0.0 {
            return (rate + change).clamp(0.0, ceiling);
        }
        let leaves = 1.0 - libm::exp(-TICK.ratio(self.outage));
        if random.chance(leaves) { change.abs().min(ceiling) } else { 0.0 }
    }

    fn check(&self, duration: Span) -> Result<(), ConfigError> {
        check_extent(duration, self.ceiling)?;
        check("sprout start", format_args!("{} (ceiling {})", self.start, self.ceiling))
            .is(self.start <= self.ceiling, "at most the ceiling")?;
        check("sprout wander", self.wander)
            .is(self.wander <= Rate::from_kbps(4_800), "0 to 4800kbps (400 packets/s)")?;
        check("sprout outage", self.outage).within(Span::from_millis(200)..=Span::from_secs(2), "1s")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_does_not_wander_gives_poisson_deliveries() {
        let model = DoublyStochastic { wander: Rate::ZERO, ..DoublyStochastic::default() };
        let trace = model.synthesize(Span::from_secs(10), Seed::new(1)).unwrap();
        let lines = trace.millis().len();
        // 500 packets/s for 10 s, within three standard deviations; the last line, which marks the end, is one more.
        assert!(lines.abs_diff(5001) <= 3 * 71, "{lines}");
        let counts: alloc::vec::Vec<f64> = (0..500)
            .map(|tick| {
                trace.millis().iter().filter(|at| (tick * 20 + 1..=tick * 20 + 20).contains(*at)).count() as f64
            })
            .collect();
        let mean = counts.iter().sum::<f64>() / 500.0;
        let variance = counts.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>() / 500.0;
        assert!((0.8..1.2).contains(&(variance / mean)), "variance {variance}, mean {mean}");
        assert!(trace.millis()[0] >= 1 && trace.period() == Span::from_secs(10));
    }

    #[test]
    fn outages_last_a_second_on_average() {
        let model = DoublyStochastic::default();
        let mut random = Seed::new(3).random();
        let ticks: u64 = (0..4000)
            .map(|_| {
                let mut ticks = 1;
                while model.next(0.0, &mut random) == 0.0 {
                    ticks += 1;
                }
                ticks
            })
            .sum();
        let mean = ticks as f64 / 4000.0 * 0.020;
        assert!((mean - 1.0).abs() <= 0.05, "{mean} s");
    }

    #[test]
    fn a_constant_1000_packets_a_second_is_12_mbps() {
        let top = Rate::from_kbps(12_000);
        let model = DoublyStochastic { start: top, wander: Rate::ZERO, ..DoublyStochastic::default() };
        let trace = model.synthesize(Span::from_secs(60), Seed::new(2)).unwrap();
        assert!((trace.mean_rate().as_mbps_f64() / 12.0 - 1.0).abs() < 0.01, "{}", trace.mean_rate());
    }

    #[test]
    fn the_rate_wanders_as_far_as_it_should_and_stays_in_its_range() {
        let model = DoublyStochastic { ceiling: Rate::from_kbps(1_000_000), ..DoublyStochastic::default() };
        let mut random = Seed::new(5).random();
        let changes: alloc::vec::Vec<f64> =
            (0..4000).map(|_| (0..50).fold(500e6, |rate, _| model.next(rate, &mut random)) - 500e6).collect();
        let deviation = libm::sqrt(changes.iter().map(|change| change * change).sum::<f64>() / 4000.0);
        assert!((deviation / 2.4e6 - 1.0).abs() < 0.05, "{deviation} bit/s after a second");
        let model = DoublyStochastic::default();
        let mut rate = 0.0;
        for _ in 0..100_000 {
            rate = model.next(rate, &mut random);
            assert!((0.0..=12e6).contains(&rate), "{rate}");
        }
    }
}
