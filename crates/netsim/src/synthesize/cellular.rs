//! Synthetic cellular links: doubly stochastic traces.
//!
//! Sprout's model (Winstein et al., NSDI 2013, section 3.1: deliveries are Poisson at a rate that does a random walk,
//! and sometimes the rate is stuck at zero) with two changes that let it match recordings over minutes: the logarithm
//! of the rate reverts to its mean instead of wandering without bound, and the length of outages has a heavy-tailed
//! distribution.

use alloc::vec::Vec;

use thalweg_units::{ConfigError, Rate, Seed, Span, check};

use super::{OPPORTUNITY_BITS, ending_at};
use crate::trace::Trace;

/// The rate is constant within a tick (Sprout: 20 ms).
const TICK: Span = Span::from_millis(20);

/// A model of a cellular link.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct CellularModel {
    /// The mean rate outside outages.
    pub mean: Rate,
    /// Standard deviation of the logarithm of the rate: 0.5 is two thirds of the time within a factor of 1.65.
    pub spread: f64,
    /// The time constant of the rate's autocorrelation.
    pub memory: Span,
    /// Max rate.
    pub ceiling: Rate,
    /// Mean time between outages; `None` for none.
    pub outage_every: Option<Span>,
    /// The min outage; outages follow a Pareto distribution.
    pub min_outage: Span,
    /// The exponent of that distribution: the smaller, the more long outages.
    pub outage_shape: f64,
    /// The max outage.
    pub max_outage: Span,
}

impl CellularModel {
    /// Generates a trace of `duration`.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn synthesize(&self, duration: Span, seed: Seed) -> Result<Trace, ConfigError> {
        self.check(duration)?;
        let mut rates = seed.child("rate").random();
        let mut deliveries = seed.child("deliveries").random();
        let mut outages = seed.child("outages").random();
        let ticks = duration.as_nanos() / TICK.as_nanos();
        let kept = libm::exp(-TICK.ratio(self.memory));
        let pushed = self.spread * libm::sqrt(1.0 - kept * kept);
        let mut deviation = self.spread * rates.normal();
        let next_outage = |random: &mut thalweg_units::Random| match self.outage_every {
            Some(every) => random.exponential(every.as_secs_f64()),
            None => f64::INFINITY,
        };
        let mut outage_at = next_outage(&mut outages);
        let mut outage_until = 0.0;
        let tick = TICK.as_secs_f64();
        let mut millis: Vec<u64> = Vec::new();
        for index in 0..ticks {
            let now = index as f64 * tick;
            deviation = kept * deviation + pushed * rates.normal();
            if now >= outage_at {
                // Pareto: min / u^(1 / shape).
                let lasts = self.min_outage.as_secs_f64() * libm::pow(1.0 - outages.unit(), -1.0 / self.outage_shape);
                outage_until = now + lasts.min(self.max_outage.as_secs_f64());
                outage_at = outage_until + next_outage(&mut outages);
            }
            if now < outage_until {
                continue;
            }
            let rate = self.mean.as_bps_f64() * libm::exp(deviation - self.spread * self.spread / 2.0);
            let per_tick = rate.min(self.ceiling.as_bps_f64()) / OPPORTUNITY_BITS * tick;
            let start = (index * TICK.as_millis()) as u64;
            let mut at = deliveries.exponential(1.0);
            while at < per_tick {
                millis.push(start + (at / per_tick * TICK.as_millis() as f64) as u64);
                at += deliveries.exponential(1.0);
            }
        }
        ending_at(millis, duration)
    }

    fn check(&self, duration: Span) -> Result<(), ConfigError> {
        check("duration", duration)
            .is(duration >= Span::from_millis(100) && duration <= Span::from_secs(86_400), "100ms to 24 hours")?;
        check("cellular rates", format_args!("mean {}, ceiling {}", self.mean, self.ceiling)).is(
            self.mean != Rate::ZERO && self.mean <= Rate::from_bps(20_000_000_000) && self.ceiling >= self.mean,
            "0 < mean <= ceiling, mean at most 20Gbps",
        )?;
        check("cellular.spread", self.spread).is((0.0..=3.0).contains(&self.spread), "0 to 3")?;
        check("cellular", format_args!("memory {}, outage_shape {}", self.memory, self.outage_shape)).is(
            self.memory > Span::ZERO && self.outage_shape > 0.5 && self.outage_shape < 20.0,
            "memory longer than 0, outage_shape 0.5 to 20",
        )?;
        check("cellular outages", format_args!("least {}, most {}", self.min_outage, self.max_outage)).is(
            self.outage_every.is_none_or(|every| every > Span::ZERO) && self.min_outage <= self.max_outage,
            "outage_every above 0, least <= most",
        )?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::presets;
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_trace_and_another_seed_another() {
        let model = presets()[0].model;
        let trace = |seed| model.synthesize(Span::from_secs(30), Seed::new(seed)).unwrap();
        assert_eq!(trace(1), trace(1));
        assert_ne!(trace(1), trace(2));
        assert_eq!(trace(1).period(), Span::from_secs(30));
    }

    #[test]
    fn every_preset_has_about_its_mean_rate_outside_outages() {
        for preset in presets() {
            let trace = preset.model.synthesize(Span::from_secs(600), Seed::new(1)).unwrap();
            let mean = trace.mean_rate().as_bps_f64() / preset.model.mean.as_bps_f64();
            assert!((0.6..1.15).contains(&mean), "{}: {mean}", preset.name);
        }
    }

    #[test]
    fn a_model_that_cannot_work_is_refused_with_the_range() {
        let model = CellularModel { spread: 9.0, ..presets()[0].model };
        let message = model.synthesize(Span::from_secs(1), Seed::new(1)).unwrap_err();
        assert!(alloc::string::ToString::to_string(&message).contains("0 to 3"));
    }
}
