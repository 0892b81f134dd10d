//! Losses, which count once they last.

use thalweg_units::{Span, Time};

use super::Config;

/// See the module.
#[derive(Debug, Clone, Default)]
pub(super) struct Losses {
    /// 0 to 1; losses count from 0.99 on.
    level: f64,
    /// True if there was a loss in the current round trip, which began at `since`.
    lost: bool,
    since: Time,
    /// Those that have not arrived after all, and when something was last known of any.
    open: u32,
    last: Time,
}

impl Losses {
    /// A report with so many packets lost, and so many that had been reported lost and arrived.
    pub(super) fn on_report(&mut self, now: Time, lost: u32, recovered: u32, turn: Span, config: &Config) {
        if now - self.since >= turn {
            let step = if self.lost { 1.0 / config.rounds_with_loss } else { -1.0 / config.rounds_without_loss };
            self.level = (self.level + step).clamp(0.0, 1.0);
            (self.since, self.lost) = (now, false);
        }
        if lost + recovered > 0 {
            self.last = now;
        } else if now - self.last > turn {
            self.open = 0;
        }
        self.lost |= lost > 0;
        self.open += lost;
        if recovered > 0 && self.open > 0 {
            self.open = self.open.saturating_sub(recovered);
            if self.open == 0 {
                (self.level, self.lost) = (0.0, false);
            }
        }
    }

    /// Returns true if losses have lasted.
    pub(super) fn count(&self) -> bool {
        self.level >= 0.99
    }

    /// Returns true if there were no recent losses.
    pub(super) fn none(&self) -> bool {
        self.level < 0.01
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TURN: Span = Span::from_millis(50);

    #[test]
    fn three_round_trips_with_losses_make_them_count_and_two_without_end_it() {
        let (mut losses, config) = (Losses::default(), Config::default());
        let mut level = |round: u64, lost| {
            losses.on_report(Time::from_millis(50 * round), lost, 0, TURN, &config);
            (losses.level * 100.0).round()
        };
        // A round trip is judged when the next begins.
        let levels: Vec<f64> = [1, 1, 1, 0, 0, 0].iter().zip(1..).map(|(lost, round)| level(round, *lost)).collect();
        assert_eq!(levels, [0.0, 33.0, 67.0, 100.0, 50.0, 0.0]);
    }

    #[test]
    fn losses_that_were_none_do_not_count() {
        let (mut losses, config) = (Losses::default(), Config::default());
        losses.on_report(Time::from_millis(50), 2, 0, TURN, &config);
        losses.on_report(Time::from_millis(100), 0, 1, TURN, &config);
        assert!(!losses.none());
        losses.on_report(Time::from_millis(110), 0, 1, TURN, &config);
        assert!(losses.none());
    }

    use alloc::vec::Vec;
}
