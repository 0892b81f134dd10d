//! The caller's clock.

use thalweg_units::Time;

use crate::error::{Error, THALWEG_E_TIME};

/// A time that never comes, or is not known.
pub const THALWEG_NEVER: u64 = u64::MAX;

/// How far times may be from the first, in ns: 36 years.
const LONGEST: u64 = 1 << 60;

/// A clock of the caller whose first time is our zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    epoch: u64,
    last: Time,
}

impl Clock {
    pub(crate) fn new(now: u64) -> Result<Clock, Error> {
        if now > u64::MAX - 2 * LONGEST {
            let why =
                format!("now is {now}, must be nanoseconds of a monotonic clock, at most {}", u64::MAX - 2 * LONGEST);
            return Err(Error::new(THALWEG_E_TIME, why));
        }
        Ok(Clock { epoch: now, last: Time::ZERO })
    }

    /// Time goes on.
    pub(crate) fn advance(&mut self, now: u64) -> Result<Time, Error> {
        let (first, last) = (self.caller(self.last), self.caller(Time::from_nanos(LONGEST)));
        if !(first..=last).contains(&now) {
            let why =
                format!("now is {now}, must be {first} or later, and at most {last}: one clock that never goes back");
            return Err(Error::new(THALWEG_E_TIME, why));
        }
        self.last = self.time(now);
        Ok(self.last)
    }

    /// When the last call was.
    pub(crate) fn last(&self) -> Time {
        self.last
    }

    /// A time of the caller's that need not be the present: one before the first counts as the first.
    pub(crate) fn time(&self, at: u64) -> Time {
        if at == THALWEG_NEVER { Time::NEVER } else { Time::from_nanos(at.saturating_sub(self.epoch)) }
    }

    /// A time as the caller counts.
    pub(crate) fn caller(&self, at: Time) -> u64 {
        if at.is_set() { at.as_nanos().saturating_add(self.epoch) } else { THALWEG_NEVER }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_count_from_the_first_and_never_go_back() {
        let mut clock = Clock::new(5_000).unwrap();
        assert_eq!(clock.advance(5_001).unwrap(), Time::from_nanos(1));
        let refused = clock.advance(5_000).unwrap_err();
        assert_eq!(refused.code, THALWEG_E_TIME);
        assert!(refused.message.starts_with("now is 5000, must be 5001 or later"), "{}", refused.message);
        assert_eq!(clock.last(), Time::from_nanos(1));
        assert!(clock.advance(THALWEG_NEVER).is_err() && Clock::new(THALWEG_NEVER).is_err());
        assert_eq!((clock.time(10), clock.time(THALWEG_NEVER)), (Time::ZERO, Time::NEVER));
        assert_eq!((clock.caller(Time::from_nanos(7)), clock.caller(Time::NEVER)), (5_007, THALWEG_NEVER));
    }
}
