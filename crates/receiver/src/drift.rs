//! Clocks that run too fast or too slow.

use thalweg_units::{ConfigError, Time, check};

/// How much faster than true time a clock runs. Crystals are within 100 parts per million of true time, most of them
/// within 50.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Drift {
    ppm: i32,
}

/// Parts in a million.
const MILLION: i128 = 1_000_000;

impl Drift {
    /// A clock that gains this many microseconds a second, -50,000 to 50,000; it loses them where that is below 0.
    ///
    /// # Errors
    /// When it is outside of that range.
    pub fn new(ppm: i32) -> Result<Drift, ConfigError> {
        check("clock_drift_ppm", ppm).within(-50_000..=50_000, "100")?;
        Ok(Drift { ppm })
    }

    /// The clock's time at the true time `at`, rounded down to its last nanosecond; both are 0 at the start.
    pub fn reads(self, at: Time) -> Time {
        self.scaled(at, |nanos, rate| nanos * rate / MILLION)
    }

    /// The first true time at which the clock reads `at` or later.
    pub fn when(self, at: Time) -> Time {
        self.scaled(at, |nanos, rate| (nanos * MILLION + rate - 1) / rate)
    }

    fn scaled(self, at: Time, by: impl Fn(i128, i128) -> i128) -> Time {
        if self.ppm == 0 || !at.is_set() {
            return at;
        }
        let nanos = by(at.as_nanos().into(), MILLION + i128::from(self.ppm));
        Time::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_clock_that_is_a_hundred_parts_per_million_fast_gains_360_ms_an_hour() {
        let hour = Time::from_millis(3_600_000);
        assert_eq!(Drift::new(100).unwrap().reads(hour), Time::from_millis(3_600_360));
        assert_eq!(Drift::new(-100).unwrap().reads(hour), Time::from_millis(3_599_640));
        assert_eq!(Drift::default().reads(hour), hour);
        assert_eq!(Drift::new(100).unwrap().when(Time::NEVER), Time::NEVER);
    }

    #[test]
    fn more_than_five_percent_is_refused_with_the_range() {
        let problem = Drift::new(60_000).unwrap_err().to_string();
        assert!(problem.contains("clock_drift_ppm is 60000, must be -50000 to 50000"), "{problem}");
        assert!(Drift::new(-50_001).is_err() && Drift::new(-50_000).is_ok());
    }

    proptest! {
        #[test]
        fn a_timer_by_the_clock_is_the_first_instant_at_which_the_clock_shows_its_time(
            ppm in -50_000..=50_000_i32,
            nanos in 0..100_000_000_000_000_u64,
        ) {
            let (drift, at) = (Drift::new(ppm).unwrap(), Time::from_nanos(nanos));
            let due = drift.when(at);
            prop_assert!(drift.reads(due) >= at);
            prop_assert!(nanos == 0 || drift.reads(Time::from_nanos(due.as_nanos() - 1)) < at);
        }
    }
}
