//! When a policy acts.

use thalweg_units::{ConfigError, Span, Time, above, check};

/// Times at a fixed interval from when a sender begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    interval: Span,
    /// The next of them; zero before the sender begins.
    next: Time,
}

impl Times {
    /// # Errors
    /// When the interval is not above zero.
    pub(crate) fn every(interval: Span) -> Result<Times, ConfigError> {
        check("interval", interval).within(above(Span::ZERO), "60ms")?;
        Ok(Times { interval, next: Time::ZERO })
    }

    /// Returns true if the first is past.
    pub(crate) fn has_begun(&self) -> bool {
        self.next > Time::ZERO
    }

    /// The next of them; the first is when a sender begins.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// The newest of them by `now`, if one came since the last call of [`Times::pass`].
    pub(crate) fn due(&self, now: Time) -> Option<Time> {
        let whole = (now - self.next).as_nanos() / self.interval.as_nanos();
        (now >= self.next).then(|| self.next + self.interval * whole)
    }

    /// Those up to `now` are past. The sender has begun by now.
    pub(crate) fn pass(&mut self, now: Time) {
        let last = if self.has_begun() { self.due(now) } else { Some(now) };
        if let Some(last) = last {
            self.next = last + self.interval;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_count_from_the_beginning_and_those_that_were_missed_are_left_out() {
        let at = Time::from_millis;
        let mut times = Times::every(Span::from_millis(60)).unwrap();
        assert!(!times.has_begun());
        times.pass(at(1000));
        assert_eq!((times.next(), times.due(at(1059)), times.due(at(1060))), (at(1060), None, Some(at(1060))));
        times.pass(at(1060));
        assert_eq!((times.next(), times.due(at(1305))), (at(1120), Some(at(1300))));
        times.pass(at(1305));
        assert_eq!(times.next(), at(1360));
        assert!(Times::every(Span::ZERO).is_err_and(|error| error.to_string().contains("interval is 0")));
    }
}
