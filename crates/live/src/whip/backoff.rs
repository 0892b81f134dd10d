//! Delays between attempts.

use thalweg_units::{ConfigError, Random, Span, above, check};

/// The delay before the next attempt, drawn from the upper half of a ceiling that doubles with every attempt, so that
/// many clients that lost the same server do not return at once.
///
/// It reads no clock: the caller waits. With the default, 0.5 to 30 s, the delays are 0.5 to 1 s, 1 to 2 s, and so on
/// up to 15 to 30 s.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backoff {
    min: Span,
    max: Span,
    ceiling: Span,
}

impl Default for Backoff {
    fn default() -> Backoff {
        Backoff { min: Span::from_millis(500), max: Span::from_secs(30), ceiling: Span::from_secs(1) }
    }
}

impl Backoff {
    /// Delays from `min` to `max`.
    ///
    /// # Errors
    /// [`ConfigError`] unless `min` is above zero and `max` at least twice as long.
    pub fn new(min: Span, max: Span) -> Result<Backoff, ConfigError> {
        check("backoff's least wait", min).within(above(Span::ZERO), "500ms")?;
        let ceiling = min.scale(2.0);
        check("backoff's longest wait", max).is(max >= ceiling, format_args!("at least {ceiling}, twice the least"))?;
        Ok(Backoff { min, max, ceiling })
    }

    /// The delay before the next attempt.
    pub fn next(&mut self, random: &mut Random) -> Span {
        let wait = self.ceiling.scale(random.between(0.5, 1.0));
        self.ceiling = self.ceiling.scale(2.0).min(self.max);
        wait.max(self.min)
    }

    /// An attempt succeeded and lasted: the next delay is the shortest again.
    pub fn reset(&mut self) {
        self.ceiling = self.min.scale(2.0);
    }
}

#[cfg(test)]
mod tests {
    use thalweg_units::Seed;

    use super::*;

    #[test]
    fn waits_double_from_half_a_second_to_half_a_minute_and_begin_again_after_success() {
        let mut random = Seed::new(1).child("live.whip.backoff").random();
        let mut backoff = Backoff::default();
        for _ in 0..100 {
            for ceiling in [1, 2, 4, 8, 16, 30, 30, 30] {
                let (wait, ceiling) = (backoff.next(&mut random), Span::from_secs(ceiling));
                assert!(ceiling.scale(0.5) <= wait && wait <= ceiling, "{wait} of {ceiling}");
            }
            backoff.reset();
        }
    }

    #[test]
    fn two_who_failed_together_do_not_come_back_together() {
        let waits = |name| Backoff::default().next(&mut Seed::new(1).child(name).random());
        assert_ne!(waits("one"), waits("other"));
    }

    #[test]
    fn a_range_that_leaves_no_room_is_refused_with_the_numbers() {
        let secs = Span::from_secs;
        assert_eq!(Backoff::new(Span::from_millis(500), secs(30)), Ok(Backoff::default()));
        let error = Backoff::new(secs(2), secs(3)).unwrap_err().to_string();
        assert!(error.contains("3s") && error.contains("4s"), "{error}");
        assert!(Backoff::new(Span::ZERO, secs(3)).is_err());
    }
}
