//! How many pictures are handed on.

use thalweg_units::{Span, Time};

/// Pictures that may come at once, as they do after a jam.
const BURST: f64 = 3.0;

/// Admits pictures at a rate, so that an encoder that is asked for so many bits in each gets no more of them.
#[derive(Debug)]
pub(super) struct Pace {
    interval: Span,
    credit: f64,
    since: Option<Time>,
}

impl Pace {
    /// One in each interval, on average.
    pub(super) fn new(interval: Span) -> Pace {
        Pace { interval, credit: BURST, since: None }
    }

    /// Returns true if a picture that comes now is handed on.
    pub(super) fn admits(&mut self, now: Time) -> bool {
        let gained = self.since.map_or(0.0, |since| (now - since).as_secs_f64() / self.interval.as_secs_f64());
        self.credit = (self.credit + gained).min(BURST);
        self.since = Some(now);
        let admitted = self.credit >= 1.0;
        if admitted {
            self.credit -= 1.0;
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of 300 pictures are admitted of those that come at these times.
    fn admitted(at: impl Fn(u64) -> u64) -> usize {
        let mut pace = Pace::new(Span::from_micros(33_333));
        (0..300).filter(|picture| pace.admits(Time::from_millis(at(*picture)))).count()
    }

    #[test]
    fn all_are_admitted_at_the_rate_however_they_jitter_and_half_at_twice_the_rate() {
        assert_eq!(admitted(|picture| 34 * picture), 300);
        assert_eq!(admitted(|picture| 34 * picture + 20 * (picture % 2)), 300);
        assert!(
            (150..=154).contains(&admitted(|picture| picture * 50 / 3)),
            "{}",
            admitted(|picture| picture * 50 / 3)
        );
        assert_eq!(admitted(|_| 0), 3, "of many at once");
    }
}
