//! An average that decays with time.

use thalweg_units::{Span, Time};

/// An exponentially weighted average of a value that holds between samples: after time t, the old average has weight
/// e^(-t / constant). Unlike an average with a fixed weight per sample, it does not depend on how often it is sampled.
#[derive(Debug, Clone)]
pub struct Ewma {
    constant: Span,
    state: Option<(Time, f64)>,
}

impl Ewma {
    /// An average whose weight falls to 1/e over `constant`; the first sample sets it. With a constant of zero or less,
    /// only the newest sample counts.
    pub fn new(constant: Span) -> Ewma {
        Ewma { constant, state: None }
    }

    /// An average that keeps `share` (above 0, below 1) of its weight over `span`: where a source gives a gain g per
    /// tick, 1 - g.
    pub fn keeping(share: f64, span: Span) -> Ewma {
        Ewma::new(span.scale(-1.0 / libm::log(share)))
    }

    /// The same average with the value `value` at `now`.
    pub fn starting(self, now: Time, value: f64) -> Ewma {
        Ewma { state: Some((now, value)), ..self }
    }

    /// Takes a value, in any unit, that held since the last sample.
    pub fn add(&mut self, now: Time, value: f64) {
        let average = self.state.map_or(value, |(at, average)| {
            // Zero time over a zero constant would be NaN.
            let kept = if self.constant <= Span::ZERO { 0.0 } else { libm::exp(-(now - at).ratio(self.constant)) };
            value + (average - value) * kept
        });
        self.state = Some((now, average));
    }

    /// The average; `None` before the first sample.
    pub fn get(&self) -> Option<f64> {
        self.state.map(|(_, average)| average)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn seven_eighths_kept_of_each_tick_give_the_numbers_of_sprout_ewma() {
        // specs/sprout.md 1: counts 10, 10, 10, 0 in ticks of 20 ms.
        let mut rate = Ewma::keeping(0.875, Span::from_millis(20)).starting(Time::ZERO, 0.0);
        for (tick, count, expected) in [(1, 10.0, 1.25), (2, 10.0, 2.34375), (3, 10.0, 3.30078), (4, 0.0, 2.88818)] {
            rate.add(Time::from_millis(20 * tick), count);
            assert!((rate.get().unwrap() - expected).abs() < 1e-5, "tick {tick}: {:?}", rate.get());
        }
    }

    #[test]
    fn an_average_without_memory_is_the_last_sample() {
        let mut last = Ewma::new(Span::ZERO);
        assert_eq!(last.get(), None);
        last.add(Time::ZERO, 3.0);
        last.add(Time::ZERO, 5.0);
        assert_eq!(last.get(), Some(5.0));
    }

    proptest! {
        #[test]
        fn looking_more_often_at_the_same_value_changes_nothing(
            steps in proptest::collection::vec((1i64..100, 1usize..9), 1..20), value in -50.0f64..50.0
        ) {
            let mut often = Ewma::new(Span::from_millis(150)).starting(Time::ZERO, 1.0);
            let mut seldom = often.clone();
            let mut now = Time::ZERO;
            for (gap, looks) in steps {
                for _ in 0..looks {
                    now += Span::from_millis(gap);
                    often.add(now, value);
                }
                seldom.add(now, value);
                prop_assert!((often.get().unwrap() - seldom.get().unwrap()).abs() < 1e-9);
            }
        }
    }
}
